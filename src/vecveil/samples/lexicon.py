"""Medical vocabulary of the sample corpus, by specialty."""

from dataclasses import dataclass
from typing import Final

Words = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Topic:
    """The words that belong together, so that sentences of one topic resemble one another.

    Attributes:
        name: The specialty, as it stands before "ward" or "clinic".
        specialist: Who practices it.
        youngest: Age of the youngest patients.
        oldest: Age of the oldest patients.
        women_only: Whether all patients are women.
        diseases: Each can follow "has" without an article.
        symptoms: Each can follow "reports" without an article.
        medications: Each can follow "takes".
        tests: Singular; each can follow "results of the".
        procedures: Singular; each can be booked.
        measures: Singular; each can precede "was checked".
        aids: Singular; each can be handed out.
    """

    name: str
    specialist: str
    youngest: int
    oldest: int
    women_only: bool = False
    diseases: Words
    symptoms: Words
    medications: Words
    tests: Words
    procedures: Words
    measures: Words
    aids: Words


TOPICS: Final = (
    Topic(
        name="cardiology", specialist="cardiologist", youngest=44, oldest=92,
        diseases=(
            "hypertension", "atrial fibrillation", "heart failure", "coronary artery disease", "aortic stenosis",
            "angina",
        ),
        symptoms=("chest pain", "palpitations", "shortness of breath", "swollen ankles", "lightheadedness"),
        medications=("metoprolol", "lisinopril", "apixaban", "furosemide"),
        tests=("echocardiogram", "stress test", "electrocardiogram", "coronary angiogram"),
        procedures=("pacemaker check", "cardiac catheterization", "cardiac rehabilitation class"),
        measures=("blood pressure", "heart rhythm", "pulse"),
        aids=("blood pressure cuff", "heart monitor", "pair of compression stockings"),
    ),
    Topic(
        name="endocrinology", specialist="endocrinologist", youngest=20, oldest=85,
        diseases=(
            "diabetes", "type 1 diabetes", "type 2 diabetes", "hypothyroidism", "Graves' disease", "Addison's disease",
        ),
        symptoms=("excessive thirst", "frequent urination", "heat intolerance", "blurred vision", "weight gain"),
        medications=("metformin", "insulin glargine", "levothyroxine", "empagliflozin"),
        tests=("hemoglobin A1c test", "thyroid ultrasound", "fasting glucose test", "cortisol test"),
        procedures=("foot exam", "retinal photograph", "glucose sensor fitting"),
        measures=("blood glucose", "thyroid hormone level", "body weight"),
        aids=("glucose meter", "injection pen", "pair of padded shoes"),
    ),
    Topic(
        name="orthopedics", specialist="orthopedic surgeon", youngest=28, oldest=88,
        diseases=(
            "osteoarthritis", "spinal stenosis", "sciatica", "scoliosis", "carpal tunnel syndrome", "plantar fasciitis",
        ),
        symptoms=("knee pain", "lower back pain", "hip stiffness", "heel pain", "shoulder stiffness"),
        medications=("ibuprofen", "celecoxib", "naproxen"),
        tests=("knee X-ray", "spine MRI", "hip X-ray", "shoulder ultrasound"),
        procedures=("hip replacement", "knee arthroscopy", "cast removal", "physical therapy session"),
        measures=("range of motion", "grip strength", "wound healing"),
        aids=("walker", "knee brace", "pair of crutches", "wrist splint"),
    ),
    Topic(
        name="pulmonology", specialist="pulmonologist", youngest=22, oldest=86,
        diseases=(
            "asthma", "chronic obstructive pulmonary disease", "pneumonia", "pulmonary fibrosis", "bronchiectasis",
            "sleep apnea",
        ),
        symptoms=("wheezing", "persistent coughing", "breathlessness at night", "loud snoring", "thick phlegm"),
        medications=("albuterol", "tiotropium", "budesonide", "azithromycin"),
        tests=("chest X-ray", "spirometry test", "sleep study", "arterial blood gas test"),
        procedures=("bronchoscopy", "breathing exercise class", "oxygen assessment"),
        measures=("oxygen saturation", "peak flow", "breathing rate"),
        aids=("inhaler spacer", "nebulizer", "portable oxygen tank"),
    ),
    Topic(
        name="pediatrics", specialist="pediatrician", youngest=2, oldest=15,
        diseases=("chickenpox", "croup", "otitis media", "whooping cough", "Kawasaki disease", "scarlet fever"),
        symptoms=("high fever", "ear pain", "noisy breathing", "itchy spots", "vomiting"),
        medications=("amoxicillin", "acetaminophen", "cetirizine"),
        tests=("throat swab", "hearing test", "eye test", "allergy test"),
        procedures=("growth check", "school vaccination", "ear tube placement"),
        measures=("temperature", "height", "fluid intake"),
        aids=("medicine dropper", "booster seat", "sticker chart"),
    ),
    Topic(
        name="psychiatry", specialist="psychiatrist", youngest=18, oldest=74,
        diseases=(
            "depression", "generalized anxiety disorder", "bipolar disorder", "schizophrenia", "panic disorder",
            "post-traumatic stress disorder",
        ),
        symptoms=("low mood", "poor sleep", "racing thoughts", "trouble concentrating", "frequent nightmares"),
        medications=("sertraline", "lithium carbonate", "quetiapine", "escitalopram"),
        tests=("mood questionnaire", "cognitive assessment", "lithium level test"),
        procedures=("therapy session", "group counseling session", "mindfulness class"),
        measures=("mood", "sleep quality", "stress level"),
        aids=("sleep diary", "mood journal", "weighted blanket"),
    ),
    Topic(
        name="oncology", specialist="oncologist", youngest=34, oldest=86,
        diseases=(
            "lung cancer", "colon cancer", "pancreatic cancer", "multiple myeloma", "leukemia", "Hodgkin lymphoma",
        ),
        symptoms=("unexplained weight loss", "night sweats", "swollen lymph nodes", "fatigue", "easy bruising"),
        medications=("paclitaxel", "pembrolizumab", "ondansetron", "capecitabine"),
        tests=("CT scan", "PET scan", "bone marrow biopsy", "tumor marker test"),
        procedures=("chemotherapy infusion", "radiation session", "port placement"),
        measures=("white cell count", "platelet count", "body weight"),
        aids=("soft headscarf", "infusion pump", "cooling cap"),
    ),
    Topic(
        name="gastroenterology", specialist="gastroenterologist", youngest=20, oldest=82,
        diseases=(
            "Crohn's disease", "ulcerative colitis", "celiac disease", "irritable bowel syndrome", "diverticulitis",
            "gastroesophageal reflux disease", "hepatitis C",
        ),
        symptoms=("abdominal pain", "bloating", "heartburn", "loose stools", "nausea"),
        medications=("omeprazole", "mesalamine", "infliximab", "loperamide"),
        tests=("colonoscopy", "upper endoscopy", "abdominal ultrasound", "stool test"),
        procedures=("polyp removal", "feeding tube check", "bowel preparation class"),
        measures=("liver function", "bowel habit", "food intake"),
        aids=("food diary", "wedge pillow", "heating pad"),
    ),
    Topic(
        name="nephrology", specialist="nephrologist", youngest=28, oldest=87,
        diseases=(
            "chronic kidney disease", "polycystic kidney disease", "nephrotic syndrome", "lupus nephritis",
            "nephrolithiasis",
        ),
        symptoms=("foamy urine", "flank pain", "puffy eyelids", "muscle cramps"),
        medications=("sevelamer", "epoetin alfa", "tacrolimus", "losartan"),
        tests=("renal ultrasound", "kidney biopsy", "creatinine test", "protein test"),
        procedures=("dialysis session", "fistula check", "dialysis catheter change"),
        measures=("potassium", "creatinine", "fluid balance"),
        aids=("fluid intake chart", "home dialysis kit", "bathroom scale"),
    ),
    Topic(
        name="neurology", specialist="neurologist", youngest=19, oldest=78,
        diseases=(
            "epilepsy", "migraine", "multiple sclerosis", "myasthenia gravis", "peripheral neuropathy", "narcolepsy",
        ),
        symptoms=("throbbing headaches", "numbness in both feet", "double vision", "muscle weakness", "blackouts"),
        medications=("levetiracetam", "topiramate", "gabapentin", "sumatriptan"),
        tests=("EEG", "brain MRI", "lumbar puncture", "nerve conduction study"),
        procedures=("nerve block", "balance training session", "plasma exchange"),
        measures=("reflex response", "muscle strength", "balance"),
        aids=("headache diary", "medical alert bracelet", "ankle support"),
    ),
    Topic(
        name="rheumatology", specialist="rheumatologist", youngest=25, oldest=84,
        diseases=(
            "rheumatoid arthritis", "lupus", "gout", "psoriatic arthritis", "ankylosing spondylitis", "fibromyalgia",
        ),
        symptoms=("morning stiffness", "joint pain", "swollen knuckles", "toe pain", "dry eyes"),
        medications=("methotrexate", "hydroxychloroquine", "adalimumab", "allopurinol", "prednisone"),
        tests=("hand X-ray", "joint ultrasound", "uric acid test", "rheumatoid factor test"),
        procedures=("joint injection", "hand therapy session", "biologic infusion"),
        measures=("joint mobility", "grip strength", "inflammation level"),
        aids=("jar opener", "thumb splint", "paraffin bath"),
    ),
    Topic(
        name="dermatology", specialist="dermatologist", youngest=19, oldest=79,
        diseases=("psoriasis", "eczema", "rosacea", "shingles", "vitiligo", "melanoma"),
        symptoms=("itching", "scaly patches", "facial flushing", "blistering", "dry skin"),
        medications=("hydrocortisone cream", "clobetasol", "isotretinoin", "valacyclovir"),
        tests=("skin biopsy", "patch test", "dermoscopy exam"),
        procedures=("phototherapy session", "mole removal", "laser treatment"),
        measures=("skin condition", "rash size", "wound healing"),
        aids=("humidifier", "pair of cotton gloves", "tube of moisturizer"),
    ),
    Topic(
        name="obstetrics", specialist="obstetrician", youngest=20, oldest=44, women_only=True,
        diseases=(
            "preeclampsia", "gestational diabetes", "endometriosis", "placenta previa", "polycystic ovary syndrome",
        ),
        symptoms=("pelvic pain", "morning sickness", "heavy periods", "swollen feet"),
        medications=("labetalol", "folic acid", "nifedipine"),
        tests=("pelvic ultrasound", "glucose tolerance test", "fetal heart scan"),
        procedures=("prenatal visit", "birthing class", "cesarean delivery"),
        measures=("fundal height", "fetal heartbeat", "iron level"),
        aids=("maternity pillow", "breast pump", "support belt"),
    ),
    Topic(
        name="geriatrics", specialist="geriatrician", youngest=68, oldest=97,
        diseases=(
            "Alzheimer's disease", "Parkinson's disease", "vascular dementia", "osteoporosis", "macular degeneration",
        ),
        symptoms=("memory loss", "unsteady gait", "hand tremor", "hearing loss", "confusion in the evening"),
        medications=("donepezil", "memantine", "levodopa", "alendronate"),
        tests=("memory test", "bone density scan", "gait assessment", "clock drawing test"),
        procedures=("fall prevention class", "home safety visit", "hearing aid fitting"),
        measures=("walking speed", "orientation", "calcium level"),
        aids=("walking frame", "pill organizer", "grab bar", "emergency call button"),
    ),
)  # fmt: skip

DISEASES: Final = tuple(disease for topic in TOPICS for disease in topic.diseases)
SYMPTOMS: Final = tuple(dict.fromkeys(symptom for topic in TOPICS for symptom in topic.symptoms))
MEDICATIONS: Final = tuple(dict.fromkeys(medication for topic in TOPICS for medication in topic.medications))
