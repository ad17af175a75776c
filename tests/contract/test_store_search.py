"""What every ConversationStore holds to: all that was said in a chat is found there, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from core.conversation import Answer, State, Turn
from core.messages import ChatKey
from core.search.query import Query
from core.store import ConversationStore
from tests.contract.talk import ANN, BOB, GROUP, PRIVATE_CHAT, START, Talk, message

OTHER = ChatKey("telegram", "5000000009")
TOPIC = ChatKey("telegram", "-1002471352452", "18")


async def search(store: ConversationStore, text: str, chat: ChatKey = PRIVATE_CHAT, **more: object) -> Sequence[Turn]:
    """Search what was told in a chat, as it is and once it is put into its fast form: both find the same."""
    query = Query(text, **more)  # type: ignore[arg-type]
    found = await store.search(chat, query)
    await store.index(chat)
    assert await store.search(chat, query) == found
    return found


async def words(store: ConversationStore, text: str, chat: ChatKey = PRIVATE_CHAT, **more: object) -> list[str]:
    return [turn.message.text for turn in await search(store, text, chat, **more)]


async def test_what_was_said_is_found_by_its_words_best_first(store: ConversationStore) -> None:
    talk = Talk(store)
    for text in ("I planted tomatoes on the balcony", "The weather is fine", "Work was long", "I fed the cat"):
        await talk.says(text)
    assert (await words(store, "what grows on my balcony?"))[0] == "I planted tomatoes on the balcony"
    assert await words(store, "submarine") == []


async def test_a_turn_is_found_by_its_answer_too(store: ConversationStore) -> None:
    turn = await Talk(store).opens("What shall I read?")
    await store.save(replace(turn, state=State.ANSWERED, answer=Answer("Try Middlemarch by George Eliot.")))
    assert await words(store, "middlemarch") == ["What shall I read?"]


async def test_a_turn_that_failed_is_found(store: ConversationStore) -> None:
    turn = await Talk(store).opens("My locker is number seven")
    await store.save(replace(turn, state=State.FAILED, failure="model"))
    assert await words(store, "locker") == ["My locker is number seven"]


async def test_what_came_before_a_turn_still_open_is_found(store: ConversationStore) -> None:
    talk = Talk(store)
    await talk.says("a zeppelin")
    await talk.opens("and what else?")
    assert (await words(store, "zeppelin"))[0] == "a zeppelin"


async def test_what_was_only_heard_is_found_by_who_said_it(store: ConversationStore) -> None:
    heard = replace(message("the key is under the mat", "1", GROUP, BOB), name="Bobby")
    await store.receive(heard)
    await store.begin([heard], state=State.HEARD, tokens=3, at=START)
    assert await words(store, "Bobby", GROUP) == ["the key is under the mat"]


async def test_nothing_is_found_in_another_chat(store: ConversationStore) -> None:
    for chat in (PRIVATE_CHAT, OTHER, GROUP, TOPIC):
        await Talk(store, chat).says(f"the zeppelin of {chat}")
    for chat in (PRIVATE_CHAT, OTHER, GROUP, TOPIC):
        assert await words(store, "zeppelin", chat) == [f"the zeppelin of {chat}"]


async def test_what_is_passed_over_is_not_given(store: ConversationStore) -> None:
    talk = Talk(store)
    first, second = await talk.says("a zeppelin"), await talk.says("another zeppelin")
    assert [t.id for t in await search(store, "zeppelin", without=frozenset({second.id}))] == [first.id]
    assert await search(store, "zeppelin", without=frozenset({first.id, second.id})) == []


async def test_no_more_is_given_than_asked_for(store: ConversationStore) -> None:
    talk = Talk(store)
    for number in range(6):
        await talk.says(f"zeppelin {number}")
    assert len(await search(store, "zeppelin", limit=3)) == 3


async def test_only_what_was_said_in_a_time_is_given(store: ConversationStore) -> None:
    talk = Talk(store)
    for number in (1, 2, 3):
        await talk.says(f"zeppelin {number}")
    since, until = START + timedelta(minutes=2), START + timedelta(minutes=3)
    assert await words(store, "zeppelin", since=since, until=until) == ["zeppelin 2"]


async def test_a_time_alone_gives_the_latest_of_it(store: ConversationStore) -> None:
    talk = Talk(store)
    for number in (1, 2, 3):
        await talk.says(f"zeppelin {number}")
    assert await words(store, "", until=START + timedelta(minutes=3), limit=1) == ["zeppelin 2"]
    assert await words(store, "") == []


async def test_an_erased_turn_is_found_no_more(store: ConversationStore) -> None:
    talk = Talk(store)
    first, second, third = [await talk.says(text) for text in ("a zeppelin", "and bread 妈妈生日", "a tiger 生日")]
    assert "and bread 妈妈生日" in await words(store, "bread tiger")
    await store.erase_turn(PRIVATE_CHAT, second.id)
    assert await store.holds("bread") == [] == await store.holds("妈生")
    assert await store.holds("生日") != []
    await store.erase_turn(PRIVATE_CHAT, first.id)
    assert await words(store, "zeppelin bread tiger") == ["a tiger 生日"]
    assert await store.holds("zeppelin") == []
    await store.erase_turn(PRIVATE_CHAT, third.id)
    assert await words(store, "zeppelin bread tiger") == []
    assert await store.holds("生日") == []


async def test_an_erased_chat_or_person_is_found_no_more(store: ConversationStore) -> None:
    private, group = Talk(store), Talk(store, GROUP)
    await private.says("a zeppelin")
    await group.says("a zeppelin", ANN)
    await group.says("a tiger", BOB)
    await store.index(PRIVATE_CHAT)
    await store.index(GROUP)
    await store.erase_person(ANN)
    assert await words(store, "zeppelin") == []
    assert await words(store, "zeppelin tiger", GROUP) == ["a tiger"]
    await store.erase_chat(GROUP)
    assert await words(store, "tiger", GROUP) == []
    assert await store.holds("zeppelin") == [] == await store.holds("tiger")


async def test_an_edited_message_is_found_by_its_new_words_only(store: ConversationStore) -> None:
    talk = Talk(store)
    turn = await talk.opens("a zeppelin")
    await store.edit(PRIVATE_CHAT, turn.message.id, "a tiger")
    await store.save(replace(turn, state=State.ANSWERED, answer=Answer("Good.")))
    assert await words(store, "zeppelin") == []
    assert await words(store, "tiger") == ["a tiger"]
    assert await store.holds("zeppelin") == []


async def test_an_edited_turn_is_found_among_those_that_came_later(store: ConversationStore) -> None:
    talk = Talk(store)
    first, *_ = [await talk.says(f"zeppelin {number}") for number in range(4)]
    await store.index(PRIVATE_CHAT)
    await store.edit(PRIVATE_CHAT, first.message.id, "an old tiger")
    assert await store.holds("answer to zeppelin 0") == ["turn"]
    assert (await words(store, "tiger"))[0] == "an old tiger"
    await talk.says("a young tiger")
    assert (await words(store, "tiger"))[:2] == ["a young tiger", "an old tiger"]
    assert {"zeppelin 1", "zeppelin 2", "zeppelin 3"} <= set(await words(store, "zeppelin"))


async def test_what_was_edited_while_it_waited_is_found_as_it_is_then(store: ConversationStore) -> None:
    arrived = await Talk(store).arrives("a zeppelin")
    await store.edit(PRIVATE_CHAT, arrived.id, "a tiger")
    _, turn = await store.open([arrived], tokens=3, at=START)
    await store.save(replace(turn, state=State.FAILED))
    assert await words(store, "zeppelin") == []
    assert await words(store, "tiger") == ["a tiger"]


async def test_a_chat_that_moves_is_found_where_it_went(store: ConversationStore) -> None:
    old, new = ChatKey("telegram", "-100"), ChatKey("telegram", "-1001")
    await Talk(store, old).says("a zeppelin")
    await Talk(store, new).says("a tiger")
    await store.index(old)
    await store.index(new)
    await store.move_chat(old, new)
    assert await words(store, "zeppelin tiger", old) == []
    assert sorted(await words(store, "zeppelin tiger", new)) == ["a tiger", "a zeppelin"]


async def test_a_branch_that_was_left_is_not_found(store: ConversationStore) -> None:
    talk = Talk(store)
    for text in ("a zeppelin", "a tiger"):
        await talk.says(text)
    here = await talk.loaded()
    await store.move_head(here, here.turns[0].id, asides=[])
    assert await words(store, "tiger zeppelin") == ["a zeppelin"]
    await store.move_head(await talk.loaded(), here.head, asides=[])
    assert await words(store, "tiger") != []


async def test_a_talk_of_many_turns_and_answers_made_anew_is_one_line(store: ConversationStore) -> None:
    talk = Talk(store)
    for number in range(12):
        turn = await talk.says(f"zeppelin {number}")
        if number % 4 == 0:
            anew = await store.retry(await talk.loaded(), turn, tokens=3, at=START)
            await store.save(replace(anew, state=State.DELIVERED, answer=Answer("a tiger")))
        if number % 5 == 0:
            await store.index(PRIVATE_CHAT)
    assert sorted(await words(store, "zeppelin", limit=20)) == sorted(f"zeppelin {n}" for n in range(12))
    tigers = [turn.message.text for turn in await search(store, "tiger", limit=20) if turn.answer == Answer("a tiger")]
    assert sorted(tigers) == ["zeppelin 0", "zeppelin 4", "zeppelin 8"]


async def test_any_text_can_be_looked_for(store: ConversationStore) -> None:
    await Talk(store).says("a zeppelin")
    for text in ("", "\0", "\ud800", "' OR 1=1 --", '"*" NEAR(', "x" * 10_000, "ｚｅｐｐｅｌｉｎ", "́" * 50, "🦊"):
        assert await words(store, text) in ([], ["a zeppelin"])
