"""Frames of sentences that tell neither a disease nor an age, by genre."""

from __future__ import annotations

from typing import Final

ROUTINES: Final[dict[str, tuple[str, ...]]] = {
    "admission": (
        "{name} arrived by ambulance from {city} with {symptom} and {other_symptom}.",
        "A {sex} from {city} waited in the {ward} clinic until {hour} without an appointment.",
        "The {sex} in room {room} asked to see the {specialist} about {symptom}.",
        "Intake form: {name}, {gender}, {city}, complains of {symptom}, brought in by {his} {relative}.",
        "The emergency department was full, so {patient} waited {count} hours for a bed in {ward}.",
        "{name} was admitted on {weekday} for a planned {procedure} and settled into room {room}.",
    ),
    "discharge summary": (
        "{patient} was discharged to {his} {relative}'s home in {city} with {a aid} and written advice.",
        "Discharge papers for {name} were printed at {hour} and handed to {his} {relative}.",
        "After {count} nights on the {ward} ward, {patient} went home to {city} with {medication} and the number of "
        "the {specialist}.",
        "{patient} left room {room} at {hour} and took {his} {aid} along.",
    ),
    "follow-up letter": (
        "{patient} feels much better and has had no {symptom} since {weekday}.",
        "At the visit {measure} was normal, and {patient} had no questions about {medication}.",
        "The {aid} fits well, and {name} uses it every day at home in {city}.",
        "{patient} was pleased with the {specialist} and will return in {count} months.",
        "{doctor} explained the {test} to {patient} and will write again after {month} {day}.",
        "We agreed to wait {count} weeks, repeat the {test}, and decide whether {patient} should stay on "
        "{medication} or change to {other_medication}.",
    ),
    "phone call": (
        "{name} called to ask whether {symptom} can be a side effect of {medication}.",
        "{patient}'s {relative} phoned twice on {weekday} about parking and visiting hours.",
        "Left a voice message for {name} about the {procedure} on {month} {day}.",
        "{first} called from {city} to say the {aid} had not been delivered.",
        "Caller from {city} reported {symptom} and {other_symptom} for {count} days and was advised to rest.",
        "{first} asked by phone where to park for the {procedure} on {weekday}.",
    ),
    "nursing note": (
        "{patient} was moved from room {room} to a quieter bed on the {ward} ward.",
        "{measure} was checked at {hour} and again before {patient} went to sleep.",
        "{patient} reports {symptom} and {other_symptom}.",
        "{first} asked for an extra blanket and watched television until {hour}.",
        "The {aid} was cleaned, labeled and returned to {patient} in room {room}.",
        "Walked {patient} to the end of the hall and back, with no {symptom}.",
        "Dressing changed at {hour}, and {patient} mentioned {symptom} for the first time today.",
        "{first}'s {relative} brought clean clothes and stayed on the {ward} ward until {hour}.",
    ),
    "medication": (
        "{patient} takes {medication} in the morning and {other_medication} before going to bed.",
        "The {medication} dose was lowered because {name} reported {symptom} after breakfast.",
        "The pharmacy in {city} was out of {medication}, so {patient} collected it on {weekday}.",
        "{patient}'s {relative} was told to keep the {medication} in a cool, dry place.",
        "{medication} refill approved by {doctor} for {count} months.",
        "{patient} forgot {his} {medication} while visiting {his} {relative} in {city}.",
        "{doctor} replaced {medication} with {other_medication} because of the cost.",
    ),
    "referral": (
        "{doctor} has moved to {city}, and {patient} will now see another {specialist}.",
        "{name} was referred from {city} to our {ward} department because of {symptom}.",
        "We have asked {a specialist} in {city} for a second opinion about {patient}'s {symptom}.",
        "Records from the {ward} clinic in {city} were faxed to {doctor} on {weekday}.",
        "Handover: {patient}, room {room}, awaiting {a test}, {relative} informed, {medication} due at {hour}.",
    ),
    "lab or imaging report": (
        "The {test} went smoothly, and {doctor} will send the report to {city}.",
        "{patient}'s {test} result arrived from {city} and was within normal limits.",
        "No further {test} is needed unless {patient} notices {symptom} again before {month}.",
        "{a test} was ordered by {doctor} and scheduled for {weekday} morning.",
        "{name} has been fasting since midnight before the {test} at {hour}.",
        "The {test} of {month} {day} was filed under the wrong name and has been corrected by {doctor}.",
    ),
    "procedure": (
        "The consent form for {name}'s {procedure} was signed and scanned on {weekday}.",
        "{patient}'s {procedure} started at {hour} because the room was not ready.",
        "Before the {procedure}, {patient} should stop {medication} for {count} days.",
        "The {procedure} was explained to {patient} with drawings and a short video.",
        "{doctor} will be present at {name}'s {procedure} on {month} {day}.",
    ),
    "diet": (
        "{patient} asked for {meal} at {hour}.",
        "{patient} prefers {meal} and does not like the {other_meal}.",
        "Breakfast on the {ward} ward was {meal}, and {patient} asked for {other_meal}.",
        "The dietitian suggested {meal} instead of {other_meal} in the evening to {name}.",
        "After the {test}, {patient} was offered {meal} and a glass of water.",
        "{first}'s {relative} brought {meal} from home, which the kitchen kept warm until {hour}.",
    ),
    "billing": (
        "The insurer asked for the date of {patient}'s {procedure} and the name of the {specialist}.",
        "A bill for the {test} was sent to {name} in {city} by mistake.",
        "The copay for {name}'s {procedure} was paid by card on {month} {day}.",
        "The plan covers {medication} but not {other_medication}, as {patient} learned on {weekday}.",
        "Billing will refund {name} for the {aid} that was never used.",
        "Insurance card copied, address in {city} updated, next payment due on {month} {day}.",
    ),
    "scheduling": (
        "{patient}'s {procedure} was moved from {weekday} to {month} {day} at {hour}.",
        "The {ward} clinic in {city} is closed on {weekday} because of staff training.",
        "Please call the {ward} desk before {hour} to confirm the {procedure} on {month} {day}.",
        "{name} canceled the {weekday} appointment and will call back after a trip to {city}.",
        "{doctor} saw {patient} on {weekday}.",
        "{doctor} can see {patient} on {month} {day} at {hour} in room {room}.",
        "The next free slot for {a procedure} is on {weekday}, {month} {day}, at {hour}.",
        "An interpreter has been booked for {name}'s visit to the {specialist} on {weekday}.",
    ),
    "social history": (
        "{patient} lives with {his} {relative} in {city} and enjoys {hobby}.",
        "{name} plans to travel from {city} to {other_city} in {month} and asked about travel insurance.",
        "{first}'s {relative} works in {city} and can visit only on {weekday}.",
        "{patient} moved from {city} to {other_city} last {month} and is looking for {a specialist}.",
        "Since the move to {city}, {first} spends most evenings with {his} {relative} and has taken up {hobby}.",
        "{name} speaks with {his} {relative} every {weekday} and misses {city} very much.",
        "The social worker helped {name} find a bus from {city} to the {ward} clinic.",
    ),
}
