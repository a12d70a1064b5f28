"""Frames of sentences that tell a disease, an age, or both, by genre."""

from __future__ import annotations

from typing import Final

DISCLOSURES: Final[dict[str, tuple[str, ...]]] = {
    "admission": (
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
    ),
    "discharge summary": (
        "{patient} now takes {medication} for {disease}.",
        "{patient} was discharged home on {medication} after treatment for {disease}.",
        "Discharge diagnosis was {disease}, and {name}, {aged}, left for {city} with {his} {relative}.",
        "The {year_old} {sex} went home after {count} days, with {disease} under control and no further {symptom}.",
        "At discharge {patient} understood that {disease} calls for {medication} and regular visits to the "
        "{specialist}.",
        "Final diagnoses for {patient} were {disease} and {other_disease}; {medication} was continued without change.",
        "{name}, {years_old}, was discharged after {a test} and will see the {specialist} in {count} weeks.",
        "Because {disease} responded well to {medication}, {patient} left the {ward} ward a day early.",
    ),
    "follow-up letter": (
        "{name} has had {disease} since {month}.",
        "Thank you for seeing {name}, who is {years_old} and has lived with {disease} for some time.",
        "I reviewed {patient}, {a year_old} {sex}, in the {ward} clinic; {his} {disease} remains stable on "
        "{medication}.",
        "Since the last visit {his} {disease} has been quiet, although {patient} still reports {symptom} at night.",
        "We discussed stopping {medication}, as {patient}'s {disease} has been in remission for {count} months.",
        "{patient}, {age}, asked whether {disease} could explain the recent {symptom}.",
        "My impression is that {disease}, rather than {other_disease}, explains the {symptom} in this {sex} of "
        "{years}.",
        "The {specialist} in {city} confirmed {disease} and suggested {medication} in place of {other_medication}.",
    ),
    "phone call": (
        "{patient}'s {relative} called to ask whether {medication} is safe for someone {aged} with {disease}.",
        "{name} phoned from {city} to say that {his} {disease} had flared up again with {symptom}.",
        "Call from {first}, {age}: {symptom} since {weekday}, known {disease}, advised to come in today.",
        "A pharmacist in {city} asked about {a medication} refill for {patient}, who takes it for {disease}.",
        "The {relative} of {a year_old} {sex} called from {city} and asked to speak with the {specialist}.",
        "On the phone {patient} sounded worried that {his} {disease} might affect {his} {relative} too.",
    ),
    "nursing note": (
        "{year_old} {sex} with {disease}, resting comfortably in room {room}, {measure} checked every four hours.",
        "{first} is {years_old} and doing well.",
        "Night shift: {patient} slept well, {disease} stable, {medication} given at {hour}.",
        "Taught {patient} how to use the {aid} and how {disease} changes over time.",
        "Patient {aged}, {disease} noted in chart, reports {symptom} after walking to the bathroom.",
        "{first}, {years_old}, ate half of the {meal} and asked when {his} {relative} would arrive.",
        "{patient} had less {symptom} after {medication}; {disease} is listed on the board in room {room}.",
        "{disease} limits how far {patient} can walk, so the {aid} stays beside the bed.",
    ),
    "referral": (
        "Please see {name}, {a year_old} {sex} with {disease} that no longer responds to {medication}.",
        "I would be grateful for your opinion on whether this {sex} of {years} from {city} has {disease}.",
        "{patient} was referred to {a specialist} in {city} for suspected {disease}.",
        "Reason for referral: {disease}, {symptom} for {count} weeks, no relief from {medication}.",
        "The family doctor in {city} suspects {disease} in {name}, {aged}, and requests {a test}.",
        "{doctor} asks us to take over the care of {a year_old} {sex} who recently moved from {city}.",
        "{doctor} wonders whether {disease} or {other_disease} lies behind {patient}'s {symptom}.",
    ),
    "lab or imaging report": (
        "{a test} in this {year_old} {sex} showed changes typical of {disease}.",
        "The {test} of {month} {day} is consistent with {disease}, with no sign of {other_disease}.",
        "Indication for the {test}: {gender}, {age}, {symptom} and suspected {disease}.",
        "Results of the {test} make {disease} unlikely, and {patient} was told so by phone.",
        "Compared with the earlier {test}, {name}'s {disease} has progressed slightly.",
        "The {test} was repeated in {patient}, {aged}, because the first result was unclear.",
    ),
    "billing": (
        "The claim for {name}, {age}, lists {disease} as the primary diagnosis and {a procedure} as the service.",
        "Insurance approved {medication} for {patient}'s {disease} after an appeal by {doctor}.",
        "The invoice for {patient}'s {procedure} was coded under {other_disease} instead of {disease}.",
        "Coverage of {patient}'s {aid} was denied because {disease} is not on the list of the plan.",
        "Prior authorization for {medication} requires proof of {disease} and a note from {doctor}.",
        "Billing record: {gender}, {years_old}, resident of {city}, one {procedure}, paid in full.",
    ),
    "scheduling": (
        "{name}, {aged}, needs a slot with the {specialist} to review {his} {disease} before {month}.",
        "Book {a procedure} for {patient} on {weekday} at {hour}; indication {disease}.",
        "The {weekday} group for people living with {disease} still has {count} open places in {city}.",
        "{patient} asked to move the {disease} review to {weekday}, when {his} {relative} can drive.",
        "The {year_old} {sex} booked with {doctor} for {weekday} at {hour} will need an interpreter.",
        "Reminder sent to {name} about the yearly {disease} check at {hour} on {month} {day}.",
    ),
    "social history": (
        "{name} is {a year_old} {sex} who lives with {his} {relative} in {city} and copes well with {disease}.",
        "{his} {relative} also has {disease}, and the family moved to {city} to be near the {ward} clinic.",
        "{patient}, {years_old}, lives in {city} and likes {hobby} and evenings with {his} {relative}.",
        "Despite {disease}, {patient} travels to {city} twice a year to visit {his} {relative}.",
        "Family history of {name} includes {disease} on one side and {other_disease} on the other.",
        "{first}, {age}, learned about {disease} from {his} {relative}, who has had it for years.",
        "{he} sleeps well, enjoys {hobby}, moved here from {city}, and was told about {disease} only in {month}.",
    ),
}
