import type { Detail, Field } from '../calls.ts'
import { viewOf } from '../calls.ts'
import type { DiffLine } from '../diff.ts'
import type { Highlight } from '../highlight.ts'
import type { Result } from '../message.ts'
import { countLines, linesText, slices } from '../slices.ts'
import { inSteps } from '../../base/json/steps.ts'
import { readTerminal } from '../terminal.ts'
import type { Answered } from '../turns.ts'
import { visibleLine } from '../visible.ts'
import { code } from './prose.ts'
import { type Html, markup, none } from './markup.ts'

const MOST_LINES_OPEN = 15
const MOST_CHARACTERS_OPEN = 2_000

const line = ({ is, text }: DiffLine): Html => {
  switch (is) {
    case 'added':
      return markup`<ins>+ ${text}\n</ins>`
    case 'removed':
      return markup`<del>- ${text}\n</del>`
    case 'same':
      return markup`<span>  ${text}\n</span>`
  }
}

function* field({ name, isText, value }: Field, highlight: Highlight): Generator<Html, void> {
  yield markup`<dt>${visibleLine(name)}</dt><dd>`
  if (isText) {
    yield markup`<pre>\n`
    for (const slice of slices(value)) yield markup`${slice}`
    yield markup`</pre>`
  } else yield* code(value, 'json', highlight)
  yield markup`</dd>`
}

function* detail(one: Detail, highlight: Highlight): Generator<Html, void> {
  switch (one.is) {
    case 'code':
      return yield* code(one.text, one.language, highlight)
    case 'diff':
      return yield markup`<pre class="diff" tabindex="0">${one.lines.map(line)}</pre>`
    case 'fields':
      yield markup`<dl class="fields">`
      for (const each of one.fields) yield* field(each, highlight)
      yield markup`</dl>`
  }
}

/** The output of a program, in its colours. */
function* terminal(text: string): Generator<Html, void> {
  yield markup`<pre class="terminal" tabindex="0">\n`
  for (const { text: piece, colour, marks = [] } of readTerminal(text)) {
    if (piece === '') {
      yield none // a step without text
      continue
    }
    const classes = [...(colour === undefined ? [] : [`ansi-${colour}`]), ...marks.map((mark) => `ansi-${mark}`)].join(
      ' ',
    )
    yield classes === '' ? markup`${piece}` : markup`<span class="${classes}">${piece}</span>`
  }
  yield markup`</pre>`
}

/** The result of a tool, closed if it is long or empty. `of` names the tool if its call is not above. */
export function* result({ output, failed }: Pick<Result, 'output' | 'failed'>, of = none): Generator<Html, void> {
  const isClosed = output === '' || output.length > MOST_CHARACTERS_OPEN || countLines(output) > MOST_LINES_OPEN
  yield isClosed
    ? markup`<details class="result${failed ? ' failed' : ''}">`
    : markup`<details class="result${failed ? ' failed' : ''}" open>`
  yield markup`<summary><b>${failed ? 'Failed' : 'Result'}</b>${of} <span>${linesText(output)}</span></summary>`
  yield* terminal(output)
  yield markup`</details>`
}

const MISSING = {
  later: markup`<p class="note">Its result stands further below.</p>`,
  none: markup`<p class="note">No result was recorded.</p>`,
}

/** A call of a tool with its result. */
export function* call({ call, result: answer }: Answered, highlight: Highlight): Generator<Html, void> {
  const { tool, subject, details } = yield* inSteps(viewOf(call), none)
  yield markup`<div class="call"><p class="tool"><b>${tool}</b> <span>${subject}</span></p>`
  for (const one of details) yield* detail(one, highlight)
  if (typeof answer === 'string') yield MISSING[answer]
  else yield* result(answer)
  yield markup`</div>`
}
