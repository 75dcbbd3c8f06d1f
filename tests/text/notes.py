"""Short notes as people write them: six languages, hardly a function word among them."""

from __future__ import annotations

_EN = """
A man climbs a rope.|Likes jazz music|Drives a Tesla|Loves pasta carbonara|Favorite color blue
vegetarian|passport expires 2027|personal trainer|docker compose restart|quiet one
prescribes medicine|dives into a pool|vegan|nurse|plumber|retired dentist|software engineer
graphic designer|primary school teacher|senior data analyst|project manager|sous chef
marine biologist|pastry chef|opera singer|taxi driver|tax accountant|truck mechanic|guitar lessons
plays violin|plays chess online|plays tennis|collects stamps|collects vinyl records|bakes sourdough
hates olives|dislikes mushrooms|adores opera|prefers decaf|prefers tea|prefers dark mode
allergic to penicillin|lactose intolerant|gluten free|severe asthma|type 2 diabetes
migraine sufferer
left-handed|near-sighted|wears contact lenses|size 42 shoes|blood type O negative|ripe mango
salted caramel ice cream|grilled salmon|espresso macchiato|tiramisu recipe|mozzarella pizza
chicken curry|lemon sorbet|banana bread|ramen noodles|avocado toast|red wine|sushi dinner
tomato soup|Mediterranean diet|spicy tacos|vanilla latte|oat milk cappuccino|quinoa salad
orange marmalade|sparkling water|craft beer|rare steak|pancakes and maple syrup
lives in Lisbon|moved to Valencia|born in Porto|grew up in Milan|based in Santa Monica
commutes via San Mateo|visits Costa Rica|vacation in Bali|studied in Paris|office in Munich
Amsterdam apartment|cabin near Lake Como|Buenos Aires trip|Los Angeles native
git rebase|npm install|kubernetes cluster|terraform apply|restart nginx|mount volume
postgres backup script|vim motions|python virtual environment|redis cache|unit tests first
use tabs|commit often|deploy Fridays|rotate API keys|staging database password|dark theme
mechanical keyboard|dual monitors|standing desk|noise cancelling headphones|ergonomic mouse
iPhone charger|electric scooter|diesel van|used Toyota Corolla|mountain bike
birthday in March|anniversary in October|dentist appointment|flight delayed|visa renewal
rent due|car insurance|emergency contact Maria|mortgage rate|gym membership|library card
two cats|golden retriever|has three sons|twin daughters|single parent|divorced|engaged
eldest sister Elena|married to Carlos|pet iguana|parrot named Coco|goldfish
morning runner|marathon training|yoga instructor|scuba diver|ice skating|salsa classes
piano recital|amateur astronomer|science fiction novels|crime series|classical ballet
indie rock|podcast host|photography|gardening|origami|calligraphy|pottery|karaoke
a woman is slicing tomatoes|two dogs run|a baby laughs|the cat sleeps|men playing cards
fluent in Italian|speaks Portuguese|learning Spanish|native French speaker|German passport
timid|ambitious|introvert|punctual|quite generous|very patient|agile coach|minimal design
"""
_ES = """
le gusta el jazz|vive en Sevilla|trabaja como enfermera|odia las aceitunas|prefiere el té verde
alérgico a la penicilina|tiene dos gatos|su hija estudia medicina|cumpleaños en marzo
habla inglés y francés|no come carne|bebe mucho café|color favorito azul|juega al tenis
toca la guitarra|casado con Elena|vuelo retrasado|reunión el lunes|cita con el dentista
el alquiler vence mañana|perro llamado Coco|corre por las mañanas|cocina muy bien
escribe cuentos|lee novelas de ciencia ficción|nació en Bogotá|viaje a Perú|coche eléctrico
contraseña de la base de datos|reiniciar el servidor|pruebas antes de publicar|es vegetariana
duerme poco|zapatos talla 42|quiere aprender piano|hermano mayor|le encanta bailar
desayuna tostadas con tomate|profesora jubilada|hijos gemelos
"""
_PT = """
gosta de jazz|mora em Lisboa|trabalha como enfermeira|odeia azeitonas|prefere chá verde
alérgico à penicilina|tem dois gatos|a filha estuda medicina|aniversário em março
fala inglês e francês|não come carne|bebe muito café|cor favorita azul|joga tênis
toca violão|casado com Helena|voo atrasado|reunião na segunda|consulta com o dentista
aluguel vence amanhã|cachorro chamado Coco|corre de manhã|cozinha muito bem
escreve contos|lê romances de ficção|nasceu em São Paulo|viagem ao Peru|carro elétrico
senha do banco de dados|reiniciar o servidor|testes antes de publicar|é vegetariana
dorme pouco|sapatos tamanho 42|quer aprender piano|irmão mais velho|adora dançar
come torradas com tomate|professora aposentada|filhos gêmeos
"""
_FR = """
aime le jazz|habite à Lyon|travaille comme infirmière|déteste les olives|préfère le thé vert
allergique à la pénicilline|a deux chats|sa fille étudie la médecine|anniversaire en mars
parle anglais et espagnol|ne mange pas de viande|boit beaucoup de café|couleur préférée bleu
joue au tennis|joue de la guitare|marié avec Hélène|vol retardé|réunion lundi matin
rendez-vous chez le dentiste|le loyer est dû demain|chien nommé Coco|court tous les matins
cuisine très bien|écrit des nouvelles|lit des romans policiers|né à Bruxelles|voyage au Pérou
voiture électrique|mot de passe de la base|redémarrer le serveur|tests avant publication
est végétarienne|dort peu|pointure 42|veut apprendre le piano|frère aîné|adore danser
mange des tartines|professeur à la retraite|enfants jumeaux
"""
_DE = """
mag Jazz|wohnt in Köln|arbeitet als Krankenschwester|hasst Oliven|trinkt lieber grünen Tee
allergisch gegen Penicillin|hat zwei Katzen|Tochter studiert Medizin|Geburtstag im März
spricht Englisch und Spanisch|isst kein Fleisch|trinkt viel Kaffee|Lieblingsfarbe blau
spielt Tennis|spielt Gitarre|verheiratet mit Helene|Flug verspätet|Besprechung am Montag
Termin beim Zahnarzt|Miete ist morgen fällig|Hund heißt Coco|läuft jeden Morgen
kocht sehr gut|schreibt Kurzgeschichten|liest gern Krimis|geboren in Wien|Reise nach Peru
fährt ein Elektroauto|Passwort der Datenbank|Server neu starten|zuerst die Tests ausführen
ist Vegetarierin|schläft wenig|Schuhgröße 42|möchte Klavier lernen|großer Bruder|tanzt gerne
isst Brot mit Tomaten|pensionierte Lehrerin|Zwillinge
"""
_IT = """
ama il jazz|vive a Bologna|lavora come infermiera|odia le olive|preferisce il tè verde
allergico alla penicillina|ha due gatti|la figlia studia medicina|compleanno a marzo
parla inglese e francese|non mangia carne|beve molto caffè|colore preferito blu
gioca a tennis|suona la chitarra|sposato con Elena|volo in ritardo|riunione lunedì mattina
appuntamento dal dentista|affitto da pagare domani|cane di nome Coco|corre ogni mattina
cucina molto bene|scrive racconti|legge romanzi gialli|nato a Palermo|viaggio in Perù
macchina elettrica|password del database|riavviare il server|prima eseguire i test
è vegetariana|dorme poco|scarpe numero 42|vuole imparare il pianoforte|fratello maggiore
adora ballare|mangia pane e pomodoro|insegnante in pensione|figli gemelli
"""

NOTES: dict[str, list[str]] = {
    language: [note for line in text.split("\n") for note in line.split("|") if note]
    for language, text in
    {"en": _EN, "es": _ES, "pt": _PT, "fr": _FR, "de": _DE, "it": _IT}.items()
}  # fmt: skip
"""Language to short notes of one to six words."""
