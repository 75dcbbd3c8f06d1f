from __future__ import annotations

import re

import pytest

from openclaw_cli.text.analyze import BUCKETS, document_terms, query_terms
from openclaw_cli.text.compounds import MAX_TERM
from openclaw_cli.text.phones import phone_terms


def terms(text, language="en"):
    return {term for bucket in document_terms(text, language).values() for term in bucket}


def shared(query, text, language="en"):
    """The terms by which a query finds a document."""
    document = document_terms(text, language)
    return {
        term
        for bucket, wanted in query_terms(query, set(document)).items()
        for term in wanted
        if term in document[bucket]
    }


@pytest.mark.parametrize("one", ["userName", "user_name", "user-name", "username", "UserName"])
@pytest.mark.parametrize("other", ["userName", "user_name", "user-name", "username", "USER_NAME"])
def test_spellings_of_an_identifier_share_the_joined_form(one, other):
    assert "usernam" in shared(one, f"the field {other} is required")


@pytest.mark.parametrize("one", ["GPT4", "gpt-4", "gpt 4", "GPT-4"])
@pytest.mark.parametrize("other", ["GPT4", "gpt-4", "gpt 4"])
def test_letters_and_digits_are_cut_apart(one, other):
    assert {"gpt", "4"} <= shared(one, f"asked {other} about it")


@pytest.mark.parametrize(
    ("text", "whole_and_parts"),
    [
        ("jane.doe+news@mail.example.com", {"jane.doe+news@mail.example.com", "jane.doe", "doe",
                                            "mail.example.com", "example.com"}),
        ("https://www.example.com/docs/intro?x=1", {"https://www.example.com/docs/intro?x=1",
                                                    "example.com", "doc", "intro"}),
        ("/etc/nginx/nginx.conf", {"etc/nginx/nginx.conf", "nginx.conf", "nginx", "conf"}),
        ("C:\\Users\\Jane\\notes.txt", {"notes.txt", "jane", "txt"}),
        ("v2.3.1", {"v2.3.1", "2.3.1", "2.3", "2", "3", "1"}),
        ("C++", {"c++", "c"}),
        ("C#", {"c#", "c"}),
        ("Node.js", {"node.js", "nodej", "node", "js"}),
        ("U.S.A.", {"u.s.a", "usa"}),
        ("HTMLParser", {"html", "parser", "htmlparser"}),
        ("APIs", {"api"}),
        ("1,000", {"1,000", "1000", "1"}),
        ("1.234.567,50", {"1234567.50"}),
        ("3.14", {"3.14", "3", "14"}),
        ("14:30", {"14:30", "14", "30"}),
        ("2023-05-08", {"2023", "05", "08", "20230508"}),
        ("10km", {"10", "km", "10km"}),
        ("€50", {"€", "50"}),
        ("99%", {"99", "%"}),
        ("٣٠٨", {"308"}),
        ("O'Brien", {"o'brien", "o", "brien"}),
        ("user's", {"user"}),
    ],
)  # fmt: skip
def test_a_compound_is_indexed_whole_and_by_its_parts(text, whole_and_parts):
    assert whole_and_parts <= terms(f"see {text}, please")
    assert whole_and_parts <= terms(text)


@pytest.mark.parametrize("query", ["👩‍💻", "👩", "💻"])
def test_an_emoji_is_found_whole_and_by_what_it_is_made_of(query):
    assert shared(query, "works as 👩‍💻 today")


def test_emoji_with_and_without_a_skin_tone_or_a_variation_sign_find_each_other():
    assert shared("👍", "fine 👍🏽")
    assert shared("👍🏽", "fine 👍")
    assert shared("❤", "with ❤️")


def test_a_flag_is_one_term():
    assert shared("🇩🇪", "moved to 🇩🇪") == {"🇩🇪"}


@pytest.mark.parametrize("language", ["fr", "it"])
def test_an_elision_is_cut_in_french_and_italian(language):
    assert "arte" in shared("arte", "dell'arte moderna", "it")
    assert document_terms("l'homme", language)[language].keys() >= {"l"}


def test_an_english_contraction_stays_whole():
    assert terms("don't") == {"don't"}


def test_a_word_longer_than_a_term_is_cut_and_found_by_itself():
    word = "x" * (MAX_TERM * 2 + 5)
    assert max(map(len, terms(word))) <= MAX_TERM
    assert shared(word, f"the token {word} is long")


@pytest.mark.parametrize(
    "unit", ["a", "(", "中", "a-a", "/", "a.", "a'", "1,", "aB", "😀", "\u0301", "ก", "ا", "c++"]
)
def test_repeated_signs_take_linear_time(unit):
    # A pattern that backtracks would need minutes for this, not a fraction of a second.
    text = unit * (200_000 // len(unit))
    document_terms(text)
    query_terms(text, BUCKETS)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("oauth", "OAuth2Client"),
        ("graphql", "GraphQLSchema"),
        ("youtube", "YouTubeApi"),
        ("github", "GitHubActionsRunner"),
        ("postgresql", "PostgreSQLClient"),
        ("javascript", "JavaScriptEngine"),
        ("grpc", "gRPCServer"),
        ("iphone", "iPhone15Pro"),
        ("macos", "macOSVersion"),
        ("xmlhttp", "XMLHttpRequest"),
        ("appdelegate", "MyAppDelegate"),
        ("useraccount", "user_account_billing_address"),
        ("userAccount", "user-account-billing-address"),
        ("httprequest", "XMLHttpRequest"),
    ],
)
def test_neighbouring_parts_of_a_name_are_found_together(query, name):
    joined = {term for term in shared(query, f"uses {name} here") if len(term) > 3}
    assert joined & {query.lower(), *terms(query.lower())}


@pytest.mark.parametrize(
    "code",
    ["a3f9c2e1b7", "550e8400-e29b-41d4-a716-446655440000", "2023-05-08", "a-b-c-d-e-f-g-h-i"],
)
def test_a_code_or_a_date_has_no_joined_neighbours(code):
    assert len(terms(code)) <= len(re.findall("[0-9]+|[a-z]+", code)) + 2


PHONES = {
    "+44 20 7946 0958": ["02079460958", "2079460958", "+442079460958", "020 7946 0958"],
    "020 7946 0958": ["+442079460958", "02079460958", "7946"],
    "+442079460958": ["02079460958", "020 7946-0958"],
    "555-123-4567": ["5551234567", "(555) 123-4567", "+1 555 123 4567"],
    "(555) 123-4567": ["5551234567", "555-123-4567", "555.123.4567"],
    "555.123.4567": ["5551234567"],
    "01 23 45 67 89": ["+33123456789", "0123456789"],
    "138 0013 8000": ["13800138000", "+8613800138000"],
}


@pytest.mark.parametrize(
    ("number", "query"), [(number, query) for number in PHONES for query in PHONES[number]]
)
def test_a_telephone_number_is_found_in_every_spelling(number, query):
    found = shared(query, f"call {number} tonight")
    assert query in ("7946",) or max(map(len, found)) >= 9


@pytest.mark.parametrize(
    "text", ["on 2023-05-08 14:30", "08.05.2023", "192.168.10.100", "10 20 30 40 50", "1 2"]
)
def test_other_numbers_are_no_telephone_numbers(text):
    assert phone_terms(text) == []


@pytest.mark.parametrize("text", ["1,299.99", "1.299,99", "$1,299"])
def test_an_amount_is_found_without_its_separators_and_cents(text):
    assert "1299" in shared("1299", f"it cost {text} then")


@pytest.mark.parametrize("unit", ["1 ", "1-", "(1", "12 345 ", "+1", "1.2 "])
def test_rows_of_numbers_take_linear_time(unit):
    document_terms(unit * (200_000 // len(unit)))
