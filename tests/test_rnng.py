"""The recurrent neural network grammar gives, scripted, the trees, scores and actions of plain Python, bit for bit."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import gjit
from examples import rnng
from examples.rnng import RULES, SENTENCES, parse, scripted
from gjit.testing import assert_same_as_numpy

ROOT = Path(__file__).parent.parent
ODD_SENTENCES = [
    "it",
    "on in with",  # prepositions only: nothing completes them
    "telescope wombat xyzzy wombat",
    "on the mat in the garden with a bird on a cat in the garden",  # deeper than the parser goes
]


@pytest.fixture(scope="module")
def model():
    return rnng.make_model()


@pytest.mark.parametrize("beam_size", [1, 2, 4, 9])
@pytest.mark.parametrize("sentence", SENTENCES + ODD_SENTENCES)
def test_scripted_parse_is_the_plain_parse(model, sentence, beam_size):
    before = scripted.statistics.host_calls
    assert_same_as_numpy(scripted, model, sentence, beam_size)
    assert scripted.statistics.host_calls == before == 0
    assert len(parse(model, sentence, beam_size)) <= beam_size


@pytest.mark.parametrize("seed", range(4))
def test_other_weights_need_no_other_plan(model, seed):
    scripted(model, SENTENCES[2])
    captures = scripted.statistics.captures
    assert_same_as_numpy(scripted, rnng.make_model(seed), SENTENCES[2])
    assert scripted.statistics.captures == captures


def test_types_of_the_results(model):
    best = scripted(model, SENTENCES[0])[0]
    assert type(best) is rnng.Parse
    assert type(best.score) is np.float32
    assert type(best.tree) is str
    assert {type(action) for action in best.actions} == {str}


def test_parses_come_best_first_and_differ(model):
    results = scripted(model, SENTENCES[2], 6)
    scores = [result.score for result in results]
    assert len(results) == 6
    assert scores == sorted(scores, reverse=True)
    assert len({result.tree for result in results}) == 6
    assert all(score < 0 for score in scores)


def test_same_bits_on_every_call(model):
    first = scripted(model, SENTENCES[1], 5)
    assert all(scripted(model, SENTENCES[1], 5) == first for _ in range(3))
    assert gjit.script(parse)(model, SENTENCES[1], 5) == first
    assert scripted(rnng.make_model(), SENTENCES[1], 5) == first


def test_threads_parse_at_the_same_time(model):
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda sentence: scripted(model, sentence), SENTENCES * 2))
    assert results == [parse(model, sentence) for sentence in SENTENCES * 2]


def test_a_sentence_without_words_is_refused_alike(model):
    with pytest.raises(ValueError, match="at least one word"):
        scripted(model, "  ")
    assert_same_as_numpy(scripted, model, "  ")


@pytest.mark.parametrize("limit", [2, 3])
def test_a_changed_global_is_seen(model, monkeypatch, limit):
    free = scripted(model, ODD_SENTENCES[3])
    monkeypatch.setattr(rnng, "MAX_OPEN", limit)
    assert_same_as_numpy(scripted, model, ODD_SENTENCES[3])
    results = scripted(model, ODD_SENTENCES[3])
    assert results != free
    assert max(depth(result.tree) for result in results) <= limit


@pytest.mark.parametrize("sentence", SENTENCES + ODD_SENTENCES)
def test_only_valid_actions_are_taken(model, sentence):
    for result in scripted(model, sentence, 9):
        assert replay(result.actions, sentence, model.grammar) == result.tree


def replay(actions, sentence, grammar):
    """The tree that the actions build, by the rules alone: no masks, no numbers, no network."""
    words, stack = sentence.split(), []  # the stack holds open nonterminals: label, and children as text
    for action in actions[:-1]:
        below = RULES[stack[-1][0]] if stack else ["S"]
        tag = grammar.tags[grammar.look_up(words[0])[1]] if words else None
        if action == "SHIFT":
            assert tag in below
            stack[-1][1].append(words.pop(0))
        elif action == "REDUCE":
            assert len(stack) > 1
            done = as_text(*stack.pop())
            stack[-1][1].append(done)
        else:
            label = action.removeprefix("NT(").removesuffix(")")
            assert label in below
            assert label == "S" or tag in RULES[label]
            stack.append((label, []))
            assert len(stack) <= rnng.MAX_OPEN
    assert actions[-1] == "REDUCE"
    assert not words
    (root,) = stack
    return as_text(*root)


def as_text(label, children):
    assert children
    return f"({label} {' '.join(children)})"


def depth(tree):
    level = deepest = 0
    for character in tree:
        level += (character == "(") - (character == ")")
        deepest = max(deepest, level)
    return deepest


def test_scores_are_log_probabilities_of_the_actions(model):
    for result in parse(model, SENTENCES[1], 3):
        state = rnng.start(model, SENTENCES[1])
        score = 0.0
        for name in result.actions:
            valid = state.valid_actions(model.grammar)
            log_probabilities = model.log_probabilities(state, valid)
            assert np.all(log_probabilities[~valid] == -np.inf)
            assert np.exp(log_probabilities).sum() == pytest.approx(1.0, abs=1e-5)
            action = model.grammar.actions.index(name)
            score += log_probabilities[action]
            state.act(action, model)
        assert state.is_finished()
        assert score == result.score


def test_forks_share_no_list(model):
    state = rnng.start(model, SENTENCES[0])
    state.act(rnng.FIRST_LABEL, model)
    fork = state.fork()
    fork.act(rnng.FIRST_LABEL + 1, model)
    fork.act(rnng.SHIFT, model)
    assert len(state.buffer) == len(state.buffer_lstm.states) - 1 == 4
    assert len(state.stack) == len(state.stack_lstm.states) - 1 == 1
    assert (len(fork.buffer), len(fork.stack), fork.labels, state.labels) == (3, 3, [0, 1], [0])


def test_composition_reads_from_both_sides(model):
    label, *children = np.eye(3, model.label_vectors.shape[1], dtype=np.float32)
    vector = model.compose(label, children)
    from_left = rnng.read(model.forward_cell, [label, children[0], children[1]])
    from_right = rnng.read(model.backward_cell, [label, children[1], children[0]])
    assert vector.dtype == np.float32
    assert np.array_equal(vector, np.tanh(model.composition_layer(from_left, from_right)))
    assert_same_as_numpy(gjit.script(rnng.Model.compose), model, label, children)


def test_the_text_of_the_graph_parses_back_and_runs(model):
    for graph in (scripted.graph, scripted.graph_for(model, SENTENCES[0])):
        text = str(graph)
        assert str(gjit.parse_graph(text)) == text
    bound = gjit.bind(gjit.parse_graph(str(scripted.graph)), scripted.captures)
    for sentence in SENTENCES:
        assert bound(model, sentence) == parse(model, sentence)
    assert bound.statistics.host_calls == 0


def test_nothing_stays_with_the_interpreter(model):
    strict = gjit.script(parse, strict=True)
    assert strict(model, SENTENCES[0]) == parse(model, SENTENCES[0])
    assert strict.statistics.host_calls == 0
    assert gjit.explain(strict, model, SENTENCES[0]).fallbacks == ()


def test_runs_as_a_script():
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "rnng.py")],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "host calls: 0" in done.stdout
    assert all(sentence in done.stdout for sentence in SENTENCES)
    assert done.stdout.count("(S ") == 2 * len(SENTENCES)
