"""Deleting goes to the trash; only emptying that removes anything."""

from __future__ import annotations

import pytest

from openclaw_cli.errors import ExistsError, NotFoundError


@pytest.fixture
def ant(sessions):
    sessions.new("ant", channel="tg", chat="1", title="标题")
    sessions.append("ant", "one", "two")
    return "ant"


def test_a_deleted_session_is_gone_from_sight_and_comes_back_as_it_was(sessions, ant):
    before, messages = sessions.show(ant), sessions.messages(ant)
    assert sessions.service.delete([ant], dry_run=True).data["deleted"] == [ant]
    assert sessions.show(ant) == before
    data = sessions.service.delete([ant], dry_run=False).data
    assert (data["deleted"], data["missing"]) == ([ant], [])
    assert sessions.listed() == []
    with pytest.raises(NotFoundError):
        sessions.show(ant)
    (item,) = sessions.service.trash_list().data["items"]
    assert (item["sessionId"], item["title"], item["messageCount"]) == (ant, "标题", 2)
    assert item["deletedAt"] == "2026-03-01T12:00:00Z"
    assert sessions.service.restore([ant]).data == {"restored": [ant]}
    assert (sessions.show(ant), sessions.messages(ant)) == (before, messages)
    assert sessions.service.trash_list().data == {"items": [], "total": 0}
    sessions.sound()


@pytest.mark.parametrize("year", [1, 500, 999, 1000, 1969, 9999])
@pytest.mark.parametrize("padded", [True, False])
def test_a_session_deleted_in_any_year_is_listed_and_comes_back(sessions, ant, year, padded):
    sessions.moment = sessions.moment.replace(year=year)
    sessions.service.delete([ant], dry_run=False)
    (folder,) = sessions.paths.trash.iterdir()
    assert folder.name == f"ant~{year:04}0301T120000Z"
    if not padded:  # as an earlier version has named it
        folder.rename(folder.with_name(f"ant~{year}0301T120000Z"))
    (item,) = sessions.service.trash_list().data["items"]
    assert (item["sessionId"], item["deletedAt"]) == (ant, f"{year:04}-03-01T12:00:00Z")
    assert sessions.service.restore([ant]).data == {"restored": [ant]}
    sessions.service.delete([ant], dry_run=False)
    sessions.service.trash_empty(None, dry_run=False)
    assert list(sessions.paths.trash.iterdir()) == []


def test_a_deleted_session_is_not_meant_by_its_key(sessions, ant):
    sessions.service.delete([ant], dry_run=False)
    assert sessions.ensure("tg", "1")["created"]


def test_one_id_can_be_deleted_again_and_again(sessions, ant):
    for title in ("second", "third"):
        sessions.service.delete([ant], dry_run=False)
        sessions.new(ant, title=title)
    sessions.service.delete([ant], dry_run=False)
    assert len(sessions.service.trash_list().data["items"]) == 3
    sessions.service.restore([ant])
    assert sessions.show(ant)["title"] == "third"
    with pytest.raises(ExistsError, match="the one in the trash stays there"):
        sessions.service.restore([ant])
    assert len(sessions.service.trash_list().data["items"]) == 2


def test_some_that_are_missing_are_listed_and_the_others_go(sessions, ant):
    data = sessions.service.delete(["bee", ant], dry_run=False).data
    assert (data["deleted"], data["missing"]) == ([ant], ["bee"])
    assert data["failed"] == [{"id": "bee", "reason": "no such session"}]
    data = sessions.service.restore(["cow", ant]).data
    assert (data["restored"], [f["id"] for f in data["failed"]]) == ([ant], ["cow"])
    for action in (sessions.service.restore, lambda n: sessions.service.delete(n, dry_run=False)):
        with pytest.raises(NotFoundError):
            action(["bee"])


def test_the_end_of_an_id_is_enough_in_the_trash_too(sessions):
    name = sessions.new()
    sessions.service.delete([name[-8:]], dry_run=False)
    assert sessions.service.restore([name[-8:]]).data == {"restored": [name]}


def test_emptying_goes_by_the_time_of_deletion(sessions, ant):
    sessions.new("bee")
    sessions.service.delete([ant], dry_run=False)
    between = sessions.moment
    sessions.later(days=40)
    sessions.service.delete(["bee"], dry_run=False)
    stranger = sessions.paths.trash / "notes.txt"
    stranger.write_text("of somebody")
    assert sessions.service.trash_empty(between, dry_run=True).data["removed"] == [ant]
    assert sessions.service.trash_empty(between, dry_run=False).data["removed"] == [ant]
    assert [i["sessionId"] for i in sessions.service.trash_list().data["items"]] == ["bee"]
    assert sessions.service.trash_empty(None, dry_run=False).data["removed"] == ["bee"]
    assert [path.name for path in sessions.paths.trash.iterdir()] == ["notes.txt"]
