"""Function words that say nothing about a record, a short list for each stemmed Latin language.

They stay in the index; a query drops them unless it holds nothing else. English prepositions of
place and time (before, over, out …) are not among them: they were measured to tell turns of a
conversation apart.
"""

from __future__ import annotations

_EN = """
a about again all also am an and any are aren't as at be because been being both but by can can't
cannot could couldn't did didn't didnt do does doesn't doesnt doing don't dont each few for from
further had hadn't has hasn't have haven't having he he'd he'll he's her here here's hers herself
him himself his how how's i i'd i'll i'm i've if in into is isn't isnt it it's its itself just
let's many may me might more most much mustn't my myself no nor not now of on once only or other
ought our ours ourselves own same shan't she she'd she'll she's should shouldn't so some such than
that that's the their theirs them themselves then there there's these they they'd they'll they're
they've this those to too until upon us very was wasn't we we'd we'll we're we've were weren't what
what's when when's where where's which while who who's whom whose why why's will with won't would
wouldn't you you'd you'll you're you've your yours yourself yourselves
"""
_ES = """
a al algo algunas algunos ante antes aquel aquella aquellas aquello aquellos aquí así aun aunque
cada como con contra cual cuál cuales cuáles cuando cuándo cuanta cuánta cuantas cuántas cuanto
cuánto cuantos cuántos de del desde donde dónde durante e el él ella ellas ello ellos en entre era
eran eras eres es esa esas ese eso esos esta está estaba estaban estado están estar estas estás
este esto estos estoy fue fueron ha había habían haber hace hacia han has hasta hay he la las le
les lo los más me mi mí mis mientras muy nada ni no nos nosotros nuestra nuestras nuestro nuestros
o os otra otras otro otros para pero poco por porque pues que qué quien quién quienes quiénes se sé
ser si sí sido sin sobre sois somos son soy su sus suya suyo también tan tanto te tenía tiene
tienen todo todos tu tú tus un una unas uno unos usted ustedes vosotros y ya yo
"""
_PT = """
a à ao aos aquela aquelas aquele aqueles aquilo as às até com como contra da das de dela delas dele
deles depois desde do dos e é ela elas ele eles em entre era eram essa essas esse esses esta está
estão estar estas estava estavam este estes estou eu foi foram for há isso isto já lá lhe lhes mais
mas me mesmo meu meus mim minha minhas muito na não nas nem no nos nós nossa nossas nosso nossos num
numa o onde os ou para pela pelas pelo pelos per por porque porquê qual quais quando quanto quanta
quantos quantas que quê quem são se seja sem ser será seu seus si sido só sob sobre sua suas também
te tem têm tinha tive tu tua tuas um uma umas uns você vocês vos
"""
_FR = """
à ai ainsi au aucun aucune aussi autre autres aux avait avant avec avez avoir avons c ça car ce ceci
cela celle celles celui ces cet cette ceux chez comme comment d dans de des donc dont du elle elles
en encore entre es est et étaient était été être eu eux fait il ils j je l la là le les leur leurs
lors lui m ma mais me même mes moi moins mon n ne ni nos notre nous on ont ou où par pas peu peut
plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se sera ses si soi son
sont sous suis sur t ta te tes toi ton tous tout toute toutes très tu un une vos votre vous y
"""
_DE = """
 aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bin
bis bist da damit dann das dass daß dein deine dem den denn der des dessen die dies diese diesem
diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer
für gegen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren
ihrer im in indem ins ist ja jede jedem jeden jeder jedes jene jener kann kein keine keinen können
könnte machen man manche mein meine mich mir mit muss nach nicht nichts noch nun nur ob oder ohne
sehr sein seine seinem seinen seiner selbst sich sie sind so solche soll sollte sondern sonst über
um und uns unser unsere unter viel vom von vor wann war waren warum was weg weil welche welchem
welchen welcher welches wenn wer werde werden wie wieder wieviel will wir wird wo wohin wollen
wurde wurden würde zu zum zur zwar zwischen
"""
_IT = """
 a abbia abbiamo ad agli ai al alla alle allo anche avere aveva avevano c che chi ci cioè col come
con contro cosa così cui d da dagli dai dal dalla dalle dallo degli dei del dell della delle dello
di dove e è ed era erano essere fa fra gli ha hai hanno ho i il in io l la le lei li lo loro lui ma
me mi mia mie miei mio ne negli nei nel nell nella nelle nello no noi non nostra nostro o ogni per
perché però più poi quale quali quando quanta quante quanti quanto quel quella quelle quelli quello
questa queste questi questo qui s sarà se sei si sia siamo sono sta stata stato su sua sue sugli
sui sul sulla sulle suo suoi ti tra tu tua tue tuo tuoi tutti tutto un una uno v vi voi
"""

STOP_WORDS: dict[str, frozenset[str]] = {
    "en": frozenset(_EN.split()),
    "es": frozenset(_ES.split()),
    "pt": frozenset(_PT.split()),
    "fr": frozenset(_FR.split()),
    "de": frozenset(_DE.split()),
    "it": frozenset(_IT.split()),
}
"""Bucket to its folded function words, before stemming."""

_OTHER = """
ik je woon woont werkt houdt drinkt speelt gaan gaat rijdt zit staat loopt vrouw kind mensen jong
hond kat koffie gebruiker mijne graag voorkeur vrouwen mannen meisje jongen twee drie vier eten
bor gillar gilla kaffe jobbar arbetar användaren föredrar heter bruger brugeren foretrækker arbejder
kvinna kvinde sitter spiller spelar
mieszka mieszkam pracuje lubi lubię użytkownik kobieta mężczyzna gra dziecko ludzie pies kot imię
bydlí bydlím pracuje uživatel žena muž jmenuji rád ráda kávu
kullanıcı sever seviyor yaşıyor yaşıyorum çalışıyor adım benim kahve merhaba tercih eder
utilizatorul locuiesc locuiește lucrează îi place cafea cafeaua numele
felhasználó szereti szeretem kávét lakom lakik dolgozik nevem
käyttäjä pitää kahvista asun asuu työskentelee nimeni kahvia
pengguna suka kopi tinggal bekerja nama lebih
usuari visc viu treballa m'agrada
aan andere bij daar dan deze een geen haar hebben heb heeft het hij hoe hun ik jij kunnen maar mijn
moet naar niet nog ook omdat uit veel voor waar want wat wel wij worden wordt zich zij zijn uw
att av blir det ett från för har hade inte kan mycket när och på ska som till vad vi är också eller
af blev efter er fra hvad hvor ikke ikkje jeg meg med mange og også være til vil
aby był była było być co czy dla do jak jego jest już który która które ma mnie na nie oraz po przez
przy się są tego tylko w z ze że
ale byl byla bylo být jako jeho jsem jsou která které který když nebo podle pouze pro před také že
alebo ako bol bola bolo ktorý ktorá ktoré pre som sú
ama bir bu çok daha değil gibi her için ile ise kadar mi ne olan olarak oldu sonra var ve yok
acest această au care cele din este foarte fost fi mai nu pe pentru prin sau să sunt și şi
azt csak egy ez ezt hogy kell már meg mint nagyon nem vagy van volt és
ei että hän joka joten kun kuin minä mukaan mutta myös niin oli olla ole ovat sen se sinä tai tämä
ada adalah akan aku bisa dalam dan dari dengan ini itu juga kami karena ke oleh pada saya sudah
tidak untuk yang
bạn các cho có của là một này những được để đã không tôi trong và với
amb aquest aquesta els però també és són una molt perquè
ali bio biti bila ili jer još kako kao koja koje koji nije od samo sam su što
aga ega kas kui ning oma olema see seda
apie bet buvo iš ir kad kaip taip yra yra jis
ar bija gan jau ka kas lai nav par vai viņš
asnjë dhe është janë kjo këtë nga një nuk për që
al ankaŭ ĉi ĉu estas estis kaj kiel kiu kun la ne ŝi tiu
ang ay hindi ito ko mga mo na ng niya sa siya
hii katika kwa na ni wa ya yake za
agus ach bhí níl seo
"""
# Words that one of the six languages knows too, or that English text holds for other reasons.
_SHARED = """
al als andere ar at bet bin care co dan die dit do efter er fi gan her hun in ir ise ka kam ke la
ma mai mange men meg mi mint mo na ne ni nie par pe po pro sa sam se see ten till un una va vai van
vi w ya z za dari var bio per med act ale ang ay cu od sen som kas kun ko nu au also tai els pre
"""

OTHER_LATIN_WORDS: frozenset[str] = (
    frozenset(_OTHER.split())
    - frozenset(_SHARED.split())
    - frozenset[str]().union(*STOP_WORDS.values())
)
"""Folded function words of Latin languages that have no stems here, from Dutch to Vietnamese."""

_ENGLISH_TOO = """
a am an are as bald bin car care come comment dare den die do dos due em era fin for fur grand hat
her here hers hin in is man mare mas me mine no non on or pan par pas per plus pour quite sage sea
sin so sole solo son sons sur tan ten than the to ton tun via war was weg will wo
"""
_NAME_PARTS = """
al da dal dalla de del della den der des di do dos du e el il la las le les los mi o san são sei un
van vi von vos y
"""

ENGLISH_TOO: frozenset[str] = frozenset(_ENGLISH_TOO.split())
"""Function words of other languages that are English words too, or look like them."""

NAME_PARTS: frozenset[str] = frozenset(_NAME_PARTS.split())
"""Function words of other languages that stand in names, and names stand in English text."""
