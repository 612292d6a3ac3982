import type { Head } from '../head.ts'
import { type Highlight, newHighlight } from '../highlight.ts'
import { readProse } from '../prose.ts'
import { isoText, timeText } from '../times.ts'
import type { Renderer, Shown, Turn } from '../turns.ts'
import { visibleLine } from '../visible.ts'
import { call, result } from './calls.ts'
import { endOfDocument, startOfDocument } from './document.ts'
import { plain, prose } from './prose.ts'
import { type Html, markup, none } from './markup.ts'

const start = ({ title, facts }: Head): Html => markup`${startOfDocument(title)}<header>
<p class="kind">Recorded session</p>
<h1 dir="auto">${title}</h1>
<dl class="facts">${facts.map(({ name, value }) => markup`<div><dt>${name}</dt><dd dir="auto">${value}</dd></div>`)}</dl>
</header>
<main>
`

const time = (timestamp: number | undefined): Html => {
  const text = timeText(timestamp)
  return text === undefined ? none : markup` <time datetime="${isoText(timestamp)!}">${text}</time>`
}

const seconds = (durationMs: number | undefined): Html =>
  durationMs === undefined || !(durationMs >= 1_000) ? none : markup` for ${Math.round(durationMs / 1_000)} s`

/** Markdown text. Parsing and showing a piece of it are two steps. */
function* written(text: string, keepsLines: boolean, highlight: Highlight): Generator<Html, void> {
  for (const parts of readProse(text, { keepsLines })) {
    yield none
    yield* prose(parts, highlight)
  }
}

function* shown(one: Shown, keepsLines: boolean, highlight: Highlight): Generator<Html, void> {
  if ('is' in one) return yield* call(one, highlight)
  switch (one.type) {
    case 'text':
      yield* written(one.text, keepsLines, highlight)
      return
    case 'thinking':
      yield markup`<details class="thinking"><summary>Thinking${seconds(one.durationMs)}</summary>`
      yield* written(one.text, false, highlight)
      return yield markup`</details>`
    case 'tool_result':
      yield markup`<div class="call">`
      yield* result(one, markup` of <b>${visibleLine(one.toolName)}</b>`)
      return yield markup`</div>`
    case 'error':
      yield markup`<div class="error"><p><b>Error</b></p>`
      yield* plain(one.message)
      return yield markup`</div>`
  }
}

const heading = (turn: Turn, prompt: number): Html => {
  if (turn.kind === 'prompt') return markup`<h2>Prompt ${prompt}${time(turn.timestamp)}</h2>`
  const model = turn.model === undefined ? none : markup` <span>${visibleLine(turn.model)}</span>`
  return markup`<h3>Answer${model}${time(turn.timestamp)}</h3>`
}

/** An HTML file of one session. Consecutive answers have one heading. */
export const newHtml = (head: Head): Renderer => {
  const highlight = newHighlight()
  let prompts = 0
  let isAnswering = false

  function* turn(one: Turn): Generator<Html, void> {
    if (one.kind === 'prompt') prompts += 1
    const continues = one.kind === 'answer' && isAnswering
    if (!continues) {
      if (isAnswering) yield markup`</article>\n`
      yield one.kind === 'context'
        ? markup`<article class="context"><details><summary>Context</summary>`
        : markup`<article class="${one.kind}">${heading(one, prompts)}`
    }
    for (const each of one.shown) yield* shown(each, one.kind !== 'answer', highlight)
    if (one.kind === 'prompt') yield markup`</article>\n`
    if (one.kind === 'context') yield markup`</details></article>\n`
    isAnswering = one.kind === 'answer'
  }

  return {
    start: () => start(head).source,
    *turn(one) {
      for (const { source } of turn(one)) yield source
    },
    end: () => markup`${isAnswering ? markup`</article>\n` : none}</main>\n${endOfDocument}`.source,
  }
}
