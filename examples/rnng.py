"""A recurrent neural network grammar parses sentences: beam search with classes, lists, dicts and sorting.

The model is the discriminative parser of Dyer, Kuncoro, Ballesteros and Smith, "Recurrent Neural Network Grammars"
(2016). A tree is built by three kinds of actions: open a nonterminal, shift the next word, reduce the open nonterminal
and what stands on it to one constituent. Three LSTMs summarise the stack, the words to come and the actions so far;
from the three summaries comes the probability of every action that is valid. The weights are random numbers from a
fixed seed, so only the grammar of valid actions keeps the trees sensible.

All of `parse` is compiled as it stands: no class or function that it uses knows of gjit. Its vectors are far too short
for regions to pay, and everything else is Python, so the scripted run is not the faster one. It is there to show that
a program of this kind runs whole, with no call left to the interpreter, and gives the same bits.

Run: python examples/rnng.py
"""

from time import perf_counter
from typing import NamedTuple

import numpy as np

import gjit

# What may stand directly below a nonterminal: tags of words, and nonterminals. A nonterminal is opened only if the next
# word could be shifted onto it at once, and S, the root of every tree, takes any sequence of the others: so no parse
# gets stuck.
RULES = {
    "S": ["NP", "VP", "PP", "ADVP"],
    "NP": ["DET", "ADJ", "NOUN", "PRON", "PP"],
    "VP": ["VERB", "ADV", "NP", "PP", "ADVP"],
    "PP": ["PREP", "NP"],
    "ADVP": ["ADV"],
}
LEXICON = {
    "DET": ["the", "a", "every"],
    "ADJ": ["hungry", "small", "old"],
    "NOUN": ["cat", "bird", "telescope", "garden", "mat"],
    "PRON": ["she", "it"],
    "VERB": ["meows", "saw", "sat", "sleeps"],
    "PREP": ["on", "in", "with"],
    "ADV": ["quietly", "often"],
}
SENTENCES = [
    "the hungry cat meows",
    "she often sleeps in the garden",
    "the old cat on the mat saw a small bird with a telescope",
    "every wombat quietly sat",  # "wombat" is in no dictionary: nouns are the open class
]

SHIFT, REDUCE, FIRST_LABEL = 0, 1, 2  # actions from FIRST_LABEL on open the nonterminals, in the order of RULES
FINISHED = -1  # the plan of a state that has nothing left to do
MAX_OPEN = 6  # open nonterminals at the same time, so that trees are not too deep


class Grammar:
    """The symbols by number, and which of them may stand below which nonterminal, as masks."""

    def __init__(self, rules, lexicon):
        self.labels = list(rules)
        self.tags = list(lexicon)
        self.actions = ["SHIFT", "REDUCE"] + [f"NT({label})" for label in self.labels]
        self.words = {}
        self.tag_of_word = {}
        for tag, words in enumerate(lexicon.values()):
            for word in words:
                self.words[word] = len(self.words)
                self.tag_of_word[word] = tag
        self.holds_tag = np.array([[tag in below for tag in self.tags] for below in rules.values()])
        self.holds_label = np.array([[label in below for label in self.labels] for below in rules.values()])

    def look_up(self, word):
        """Number and tag of a word; all unknown words share one number, and are nouns."""
        return self.words.get(word, len(self.words)), self.tag_of_word.get(word, self.tags.index("NOUN"))


# The network


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def log_softmax(logits, valid):
    scores = np.where(valid, logits, -np.inf)
    scores = scores - scores.max()
    return scores - np.log(np.exp(scores).sum())


class Affine:
    """`weights @ x + bias`, where x may come in parts."""

    def __init__(self, random, input_size, output_size, gain=2.0):
        bound = gain / np.sqrt(input_size)
        self.weights = random.uniform(-bound, bound, (output_size, input_size)).astype(np.float32)
        self.bias = random.uniform(-bound, bound, output_size).astype(np.float32)

    def __call__(self, *parts):
        return self.weights @ np.concatenate(parts) + self.bias


class LSTMCell:
    """One step of a long short-term memory: input and state give the next state, a pair of hidden vector and memory."""

    def __init__(self, random, input_size, hidden_size):
        self.gates = Affine(random, input_size + hidden_size, 4 * hidden_size)
        self.start = (np.zeros(hidden_size, dtype=np.float32), np.zeros(hidden_size, dtype=np.float32))

    def step(self, x, state):
        hidden, memory = state
        let_in, keep, let_out, candidate = np.split(self.gates(x, hidden), 4)
        memory = sigmoid(keep) * memory + sigmoid(let_in) * np.tanh(candidate)
        return sigmoid(let_out) * np.tanh(memory), memory


class StackLSTM:
    """An LSTM that can go back: it keeps the state before each input, so the last input can be popped."""

    def __init__(self, cell, states=None):
        self.cell = cell
        self.states = [cell.start] if states is None else states

    def push(self, x):
        self.states.append(self.cell.step(x, self.states[-1]))

    def pop(self):
        self.states.pop()

    def fork(self):
        return StackLSTM(self.cell, self.states[:])  # states are never written, so forks may share them

    @property
    def summary(self):
        return self.states[-1][0]


class Model:
    """All weights: embeddings, the three LSTMs over the parser's state, the composition, and the choice of action."""

    def __init__(self, grammar, random, embedding_size=32, hidden_size=64):
        self.grammar = grammar
        # one row a symbol, and one more for the words that the grammar does not know
        self.word_vectors = embeddings(random, len(grammar.words) + 1, embedding_size)
        self.tag_vectors = embeddings(random, len(grammar.tags), embedding_size)
        self.label_vectors = embeddings(random, len(grammar.labels), hidden_size)
        self.action_vectors = embeddings(random, len(grammar.actions), embedding_size)
        self.word_layer = Affine(random, 2 * embedding_size, hidden_size)
        self.stack_cell = LSTMCell(random, hidden_size, hidden_size)
        self.buffer_cell = LSTMCell(random, hidden_size, hidden_size)
        self.action_cell = LSTMCell(random, embedding_size, hidden_size)
        self.forward_cell = LSTMCell(random, hidden_size, hidden_size)
        self.backward_cell = LSTMCell(random, hidden_size, hidden_size)
        self.composition_layer = Affine(random, 2 * hidden_size, hidden_size)
        self.state_layer = Affine(random, 3 * hidden_size, hidden_size)
        self.action_layer = Affine(random, hidden_size, len(grammar.actions))

    def word_vector(self, word, tag):
        return np.tanh(self.word_layer(self.word_vectors[word], self.tag_vectors[tag]))

    def compose(self, label, children):
        """The vector of a constituent: two LSTMs read label and children, one from the left and one from the right."""
        forward = read(self.forward_cell, [label, *children])
        backward = read(self.backward_cell, [label, *children[::-1]])
        return np.tanh(self.composition_layer(forward, backward))

    def log_probabilities(self, state, valid):
        summaries = [state.stack_lstm.summary, state.buffer_lstm.summary, state.action_lstm.summary]
        return log_softmax(self.action_layer(np.tanh(self.state_layer(*summaries))), valid)


def embeddings(random, count, size):
    return random.standard_normal((count, size), dtype=np.float32)


def read(cell, vectors):
    state = cell.start
    for vector in vectors:
        state = cell.step(vector, state)
    return state[0]


# The parser


class Word(NamedTuple):
    """A word that is still to be shifted."""

    text: str
    tag: int
    vector: np.ndarray


class Element(NamedTuple):
    """What the stack holds: an open nonterminal, a word, or a constituent."""

    tree: object  # a word is a string, a nonterminal the pair of its label and the list of its children
    vector: np.ndarray
    is_open: bool = False


class State:
    """A parse up to some action. A state is never changed once others were forked from it."""

    def __init__(self, score, buffer, labels, stack, actions, lstms):
        self.score = score  # log-probability of the actions
        self.buffer = buffer  # words to come, the next one last
        self.labels = labels  # numbers of the open nonterminals
        self.stack = stack
        self.actions = actions
        self.stack_lstm, self.buffer_lstm, self.action_lstm = lstms

    def fork(self):
        lstms = [lstm.fork() for lstm in (self.stack_lstm, self.buffer_lstm, self.action_lstm)]
        return State(self.score, self.buffer[:], self.labels[:], self.stack[:], self.actions[:], lstms)

    def is_finished(self):
        return not self.labels and not self.buffer

    def valid_actions(self, grammar):
        valid = np.zeros(len(grammar.actions), dtype=bool)
        if not self.labels:
            valid[FIRST_LABEL + grammar.labels.index("S")] = True
            return valid
        label = self.labels[-1]
        if self.buffer:
            tag = self.buffer[-1].tag
            valid[SHIFT] = grammar.holds_tag[label, tag]
            if len(self.labels) < MAX_OPEN:
                valid[FIRST_LABEL:] = grammar.holds_label[label] & grammar.holds_tag[:, tag]
        # The outermost nonterminal is reduced last of all; none is reduced to a constituent without words.
        is_last = len(self.labels) == 1 and not self.buffer
        valid[REDUCE] = not self.stack[-1].is_open and (len(self.labels) > 1 or is_last)
        return valid

    def act(self, action, model):
        if action == SHIFT:
            self.shift()
        elif action == REDUCE:
            self.reduce(model)
        else:
            self.open(action - FIRST_LABEL, model)
        self.actions.append(model.grammar.actions[action])
        self.action_lstm.push(model.action_vectors[action])

    def open(self, label, model):
        self.labels.append(label)
        self.push(Element((model.grammar.labels[label], []), model.label_vectors[label], is_open=True))

    def shift(self):
        word = self.buffer.pop()
        self.buffer_lstm.pop()
        self.push(Element(word.text, word.vector))

    def reduce(self, model):
        children = []
        while not self.stack[-1].is_open:
            children.append(self.pop())
        children.reverse()
        label, _ = self.pop().tree
        vector = model.compose(model.label_vectors[self.labels.pop()], [child.vector for child in children])
        self.push(Element((label, [child.tree for child in children]), vector))

    def push(self, element):
        self.stack.append(element)
        self.stack_lstm.push(element.vector)

    def pop(self):
        self.stack_lstm.pop()
        return self.stack.pop()


class Plan:
    """To take an action in a state. The better plan is the smaller one, so it comes first when plans are sorted."""

    def __init__(self, score, state, action):
        self.score = score
        self.state = state
        self.action = action

    def __lt__(self, other):
        return self.score > other.score

    def carry_out(self, model):
        if self.action == FINISHED:
            return self.state
        state = self.state.fork()
        state.score = self.score
        state.act(self.action, model)
        return state


class Parse(NamedTuple):
    """A tree in brackets, its log-probability, and the actions that built it."""

    tree: str
    score: float
    actions: list[str]


def start(model, sentence):
    buffer = []
    buffer_lstm = StackLSTM(model.buffer_cell)
    # The LSTM reads the words from the last to the first: its summary, then, is of the words still to come.
    for text in reversed(sentence.split()):
        word, tag = model.grammar.look_up(text)
        buffer.append(Word(text, tag, model.word_vector(word, tag)))
        buffer_lstm.push(buffer[-1].vector)
    lstms = [StackLSTM(model.stack_cell), buffer_lstm, StackLSTM(model.action_cell)]
    return State(0.0, buffer, [], [], [], lstms)


def plans_of(beam, model):
    plans = []
    for state in beam:
        if state.is_finished():
            plans.append(Plan(state.score, state, FINISHED))
            continue
        valid = state.valid_actions(model.grammar)
        log_probabilities = model.log_probabilities(state, valid)
        for action in range(len(valid)):
            if valid[action]:
                plans.append(Plan(state.score + log_probabilities[action], state, action))
    return plans


def bracketed(tree):
    if isinstance(tree, str):
        return tree
    label, children = tree
    return f"({label} {' '.join(bracketed(child) for child in children)})"


def parse(model, sentence, beam_size=4):
    """The best parses of a sentence, best first, as a beam of the given size finds them."""
    if not sentence.split():
        raise ValueError("a sentence has at least one word")
    beam = [start(model, sentence)]
    while not all(state.is_finished() for state in beam):
        plans = plans_of(beam, model)
        plans.sort()
        beam = [plan.carry_out(model) for plan in plans[:beam_size]]
    return [Parse(bracketed(state.stack[0].tree), state.score, state.actions) for state in beam]


scripted = gjit.script(parse)

# Other examples list programs here that take arrays of any size; a parser has none.
PROGRAMS = []


def make_model(seed=2000):
    return Model(Grammar(RULES, LEXICON), np.random.default_rng(seed))


def timed(function, model):
    begin = perf_counter()
    results = [function(model, sentence) for sentence in SENTENCES]
    return results, perf_counter() - begin


def main():
    model = make_model()
    plain_results, plain_time = timed(parse, model)
    _, first_time = timed(scripted, model)
    scripted_results, scripted_time = timed(scripted, model)
    assert scripted_results == plain_results

    for sentence, results in zip(SENTENCES, scripted_results, strict=True):
        print(sentence)
        for result in results[:2]:
            print(f"  {result.score:8.4f}  {result.tree}")

    explanation = gjit.explain(scripted, model, SENTENCES[0])
    print(f"plain {plain_time:.3f} s, scripted {scripted_time:.3f} s, with compilation {first_time:.3f} s")
    counters = scripted.statistics
    print(f"{counters.captures} functions and methods captured, {explanation.regions} regions")
    for fallback in explanation.fallbacks:
        print(f"{fallback.function} at {fallback.place}: {fallback.reason}")
    print(f"host calls: {counters.host_calls}")


if __name__ == "__main__":
    main()
