"""Ways in: vecveil as one line of what people run today. One public file for each library, which it alone imports."""
