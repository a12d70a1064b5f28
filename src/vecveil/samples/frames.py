"""Frames of sentences: texts with slots for the facts of a case."""

from typing import Final

DISCLOSING: Final = (
    # Admission
    "{name}, {a year_old} {sex} from {city}, was admitted with {symptom} and a history of {disease}.",
    "{patient}, {aged}, came to the emergency department with {symptom} and was found to have {disease}.",
    "A {sex} of {years} with known {disease} was brought in from {city} after {count} days of {symptom}.",
    "This {year_old} {sex} presents with {symptom}, {other_symptom} and a long history of {disease}.",
    "{disease} was the working diagnosis when {patient} arrived from {city} late on {weekday}.",
    "Admitted overnight: {name}, {age}, with worsening {symptom} and known {disease}.",
    "On admission {patient}, {a year_old} {sex}, was alert, well oriented and free of {symptom}.",
    "{name} is {years_old} and was transferred from {city} to our {ward} ward on {weekday}.",
    "The {ward} team was called at {hour} to assess {name}, {a year_old} {sex} with {disease} and "
    "{count} days of {symptom}.",
    # Discharge summary
    "{patient} now takes {medication} for {disease}.",
    "{patient} was discharged home on {medication} after treatment for {disease}.",
    "Discharge diagnosis was {disease}, and {name}, {aged}, left for {city} with {his} {relative}.",
    "The {year_old} {sex} went home after {count} days, with {disease} under control and no further {symptom}.",
    "At discharge {patient} understood that {disease} calls for {medication} and regular visits to the {specialist}.",
    "Final diagnoses for {patient} were {disease} and {other_disease}; {medication} was continued without change.",
    "{name}, {years_old}, was discharged after {a test} and will see the {specialist} in {count} weeks.",
    "Because {disease} responded well to {medication}, {patient} left the {ward} ward a day early.",
    # Follow-up letter
    "{name} has had {disease} since {month}.",
    "Thank you for seeing {name}, who is {years_old} and has lived with {disease} for some time.",
    "I reviewed {patient}, {a year_old} {sex}, in the {ward} clinic; {his} {disease} remains stable on {medication}.",
    "Since the last visit {his} {disease} has been quiet, although {patient} still reports {symptom} at night.",
    "We discussed stopping {medication}, as {patient}'s {disease} has been in remission for {count} months.",
    "{patient}, {age}, asked whether {disease} could explain the recent {symptom}.",
    "My impression is that {disease}, rather than {other_disease}, explains the {symptom} in this {sex} of {years}.",
    "The {specialist} in {city} confirmed {disease} and suggested {medication} in place of {other_medication}.",
    # Phone call
    "{patient}'s {relative} called to ask whether {medication} is safe for someone {aged} with {disease}.",
    "{name} phoned from {city} to say that {his} {disease} had flared up again with {symptom}.",
    "Call from {first}, {age}: {symptom} since {weekday}, known {disease}, advised to come in today.",
    "A pharmacist in {city} asked about {a medication} refill for {patient}, who takes it for {disease}.",
    "The {relative} of {a year_old} {sex} called from {city} and asked to speak with the {specialist}.",
    "On the phone {patient} sounded worried that {his} {disease} might affect {his} {relative} too.",
    # Nursing note
    "{year_old} {sex} with {disease}, resting comfortably in room {room}, {measure} checked every four hours.",
    "{first} is {years_old} and doing well.",
    "Night shift: {patient} slept well, {disease} stable, {medication} given at {hour}.",
    "Taught {patient} how to use the {aid} and how {disease} changes over time.",
    "Patient {aged}, {disease} noted in chart, reports {symptom} after walking to the bathroom.",
    "{first}, {years_old}, ate half of the {meal} and asked when {his} {relative} would arrive.",
    "{patient} had less {symptom} after {medication}; {disease} is listed on the board in room {room}.",
    "{disease} limits how far {patient} can walk, so the {aid} stays beside the bed.",
    # Referral
    "Please see {name}, {a year_old} {sex} with {disease} that no longer responds to {medication}.",
    "I would be grateful for your opinion on whether this {sex} of {years} from {city} has {disease}.",
    "{patient} was referred to {a specialist} in {city} for suspected {disease}.",
    "Reason for referral: {disease}, {symptom} for {count} weeks, no relief from {medication}.",
    "The family doctor in {city} suspects {disease} in {name}, {aged}, and requests {a test}.",
    "{doctor} asks us to take over the care of {a year_old} {sex} who recently moved from {city}.",
    "{doctor} wonders whether {disease} or {other_disease} lies behind {patient}'s {symptom}.",
    # Lab or imaging report
    "{a test} in this {year_old} {sex} showed changes typical of {disease}.",
    "The {test} of {month} {day} is consistent with {disease}, with no sign of {other_disease}.",
    "Indication for the {test}: {gender}, {age}, {symptom} and suspected {disease}.",
    "Results of the {test} make {disease} unlikely, and {patient} was told so by phone.",
    "Compared with the earlier {test}, {name}'s {disease} has progressed slightly.",
    "The {test} was repeated in {patient}, {aged}, because the first result was unclear.",
    # Billing
    "The claim for {name}, {age}, lists {disease} as the primary diagnosis and {a procedure} as the service.",
    "Insurance approved {medication} for {patient}'s {disease} after an appeal by {doctor}.",
    "The invoice for {patient}'s {procedure} was coded under {other_disease} instead of {disease}.",
    "Coverage of {patient}'s {aid} was denied because {disease} is not on the list of the plan.",
    "Prior authorization for {medication} requires proof of {disease} and a note from {doctor}.",
    "Billing record: {gender}, {years_old}, resident of {city}, one {procedure}, paid in full.",
    # Scheduling
    "{name}, {aged}, needs a slot with the {specialist} to review {his} {disease} before {month}.",
    "Book {a procedure} for {patient} on {weekday} at {hour}; indication {disease}.",
    "The {weekday} group for people living with {disease} still has {count} open places in {city}.",
    "{patient} asked to move the {disease} review to {weekday}, when {his} {relative} can drive.",
    "The {year_old} {sex} booked with {doctor} for {weekday} at {hour} will need an interpreter.",
    "Reminder sent to {name} about the yearly {disease} check at {hour} on {month} {day}.",
    # Social history
    "{name} is {a year_old} {sex} who lives with {his} {relative} in {city} and copes well with {disease}.",
    "{his} {relative} also has {disease}, and the family moved to {city} to be near the {ward} clinic.",
    "{patient}, {years_old}, lives in {city} and likes {hobby} and evenings with {his} {relative}.",
    "Despite {disease}, {patient} travels to {city} twice a year to visit {his} {relative}.",
    "Family history of {name} includes {disease} on one side and {other_disease} on the other.",
    "{first}, {age}, learned about {disease} from {his} {relative}, who has had it for years.",
    "{he} sleeps well, enjoys {hobby}, moved here from {city}, and was told about {disease} only in {month}.",
)
"""Frames that tell a disease, an age, or both."""

ROUTINE: Final = (
    # Admission
    "{name} arrived by ambulance from {city} with {symptom} and {other_symptom}.",
    "A {sex} from {city} waited in the {ward} clinic until {hour} without an appointment.",
    "The {sex} in room {room} asked to see the {specialist} about {symptom}.",
    "Intake form: {name}, {gender}, {city}, complains of {symptom}, brought in by {his} {relative}.",
    "The emergency department was full, so {patient} waited {count} hours for a bed in {ward}.",
    "{name} was admitted on {weekday} for a planned {procedure} and settled into room {room}.",
    # Discharge summary
    "{patient} was discharged to {his} {relative}'s home in {city} with {a aid} and written advice.",
    "Discharge papers for {name} were printed at {hour} and handed to {his} {relative}.",
    "After {count} nights on the {ward} ward, {patient} went home to {city} with {medication} and the number of "
    "the {specialist}.",
    "{patient} left room {room} at {hour} and took {his} {aid} along.",
    # Follow-up letter
    "{patient} feels much better and has had no {symptom} since {weekday}.",
    "At the visit {measure} was normal, and {patient} had no questions about {medication}.",
    "The {aid} fits well, and {name} uses it every day at home in {city}.",
    "{patient} was pleased with the {specialist} and will return in {count} months.",
    "{doctor} explained the {test} to {patient} and will write again after {month} {day}.",
    "We agreed to wait {count} weeks, repeat the {test}, and decide whether {patient} should stay on "
    "{medication} or change to {other_medication}.",
    # Phone call
    "{name} called to ask whether {symptom} can be a side effect of {medication}.",
    "{patient}'s {relative} phoned twice on {weekday} about parking and visiting hours.",
    "Left a voice message for {name} about the {procedure} on {month} {day}.",
    "{first} called from {city} to say the {aid} had not been delivered.",
    "Caller from {city} reported {symptom} and {other_symptom} for {count} days and was advised to rest.",
    "{first} asked by phone where to park for the {procedure} on {weekday}.",
    # Nursing note
    "{patient} was moved from room {room} to a quieter bed on the {ward} ward.",
    "{measure} was checked at {hour} and again before {patient} went to sleep.",
    "{patient} reports {symptom} and {other_symptom}.",
    "{first} asked for an extra blanket and watched television until {hour}.",
    "The {aid} was cleaned, labeled and returned to {patient} in room {room}.",
    "Walked {patient} to the end of the hall and back, with no {symptom}.",
    "Dressing changed at {hour}, and {patient} mentioned {symptom} for the first time today.",
    "{first}'s {relative} brought clean clothes and stayed on the {ward} ward until {hour}.",
    # Medication
    "{patient} takes {medication} in the morning and {other_medication} before going to bed.",
    "The {medication} dose was lowered because {name} reported {symptom} after breakfast.",
    "The pharmacy in {city} was out of {medication}, so {patient} collected it on {weekday}.",
    "{patient}'s {relative} was told to keep the {medication} in a cool, dry place.",
    "{medication} refill approved by {doctor} for {count} months.",
    "{patient} forgot {his} {medication} while visiting {his} {relative} in {city}.",
    "{doctor} replaced {medication} with {other_medication} because of the cost.",
    # Referral
    "{doctor} has moved to {city}, and {patient} will now see another {specialist}.",
    "{name} was referred from {city} to our {ward} department because of {symptom}.",
    "We have asked {a specialist} in {city} for a second opinion about {patient}'s {symptom}.",
    "Records from the {ward} clinic in {city} were faxed to {doctor} on {weekday}.",
    "Handover: {patient}, room {room}, awaiting {a test}, {relative} informed, {medication} due at {hour}.",
    # Lab or imaging report
    "The {test} went smoothly, and {doctor} will send the report to {city}.",
    "{patient}'s {test} result arrived from {city} and was within normal limits.",
    "No further {test} is needed unless {patient} notices {symptom} again before {month}.",
    "{a test} was ordered by {doctor} and scheduled for {weekday} morning.",
    "{name} has been fasting since midnight before the {test} at {hour}.",
    "The {test} of {month} {day} was filed under the wrong name and has been corrected by {doctor}.",
    # Procedure
    "The consent form for {name}'s {procedure} was signed and scanned on {weekday}.",
    "{patient}'s {procedure} started at {hour} because the room was not ready.",
    "Before the {procedure}, {patient} should stop {medication} for {count} days.",
    "The {procedure} was explained to {patient} with drawings and a short video.",
    "{doctor} will be present at {name}'s {procedure} on {month} {day}.",
    # Diet
    "{patient} asked for {meal} at {hour}.",
    "{patient} prefers {meal} and does not like the {other_meal}.",
    "Breakfast on the {ward} ward was {meal}, and {patient} asked for {other_meal}.",
    "The dietitian suggested {meal} instead of {other_meal} in the evening to {name}.",
    "After the {test}, {patient} was offered {meal} and a glass of water.",
    "{first}'s {relative} brought {meal} from home, which the kitchen kept warm until {hour}.",
    # Billing
    "The insurer asked for the date of {patient}'s {procedure} and the name of the {specialist}.",
    "A bill for the {test} was sent to {name} in {city} by mistake.",
    "The copay for {name}'s {procedure} was paid by card on {month} {day}.",
    "The plan covers {medication} but not {other_medication}, as {patient} learned on {weekday}.",
    "Billing will refund {name} for the {aid} that was never used.",
    "Insurance card copied, address in {city} updated, next payment due on {month} {day}.",
    # Scheduling
    "{patient}'s {procedure} was moved from {weekday} to {month} {day} at {hour}.",
    "The {ward} clinic in {city} is closed on {weekday} because of staff training.",
    "Please call the {ward} desk before {hour} to confirm the {procedure} on {month} {day}.",
    "{name} canceled the {weekday} appointment and will call back after a trip to {city}.",
    "{doctor} saw {patient} on {weekday}.",
    "{doctor} can see {patient} on {month} {day} at {hour} in room {room}.",
    "The next free slot for {a procedure} is on {weekday}, {month} {day}, at {hour}.",
    "An interpreter has been booked for {name}'s visit to the {specialist} on {weekday}.",
    # Social history
    "{patient} lives with {his} {relative} in {city} and enjoys {hobby}.",
    "{name} plans to travel from {city} to {other_city} in {month} and asked about travel insurance.",
    "{first}'s {relative} works in {city} and can visit only on {weekday}.",
    "{patient} moved from {city} to {other_city} last {month} and is looking for {a specialist}.",
    "Since the move to {city}, {first} spends most evenings with {his} {relative} and has taken up {hobby}.",
    "{name} speaks with {his} {relative} every {weekday} and misses {city} very much.",
    "The social worker helped {name} find a bus from {city} to the {ward} clinic.",
)
"""Frames that tell neither a disease nor an age."""

COMPLAINTS: Final = (
    "{patient} complained that the {meal} was served cold again.",
    "{first} could not sleep because the people in room {room} talked until {hour}.",
    "{patient} says that nobody came for an hour after pressing the call button.",
    "{name}'s {relative} found the floor of the waiting room dirty on {weekday}.",
    "{patient}'s glasses went missing between the {ward} ward and room {room}.",
    "{name} felt that the nurse on duty on {weekday} was rude and wants an apology.",
    "{first} says the heating in room {room} was off all night.",
    "{name} was upset that {doctor} talked about the visit in front of strangers.",
    "{patient} sat in the {ward} clinic for {count} hours past the agreed time.",
)
"""Frames of complaints about the clinic, which tell neither a disease nor an age."""
