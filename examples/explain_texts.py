"""Train on texts, predict, and see which words decided."""

import markone

TEXTS = [
    "win money now, free entry",
    "are you at home tonight?",
    "free phone, call now to win",
    "see you at the station at noon",
    "claim your free prize now",
    "can you bring the book home?",
]
LABELS = ["spam", "ham", "spam", "ham", "spam", "ham"]

model = markone.train(TEXTS, target=LABELS)
for text in ["free money", "are you at the station?"]:
    print(f"{text!r} is {model.predict(text)}.")
print(model.explain("call now, see your prize", top=4))
