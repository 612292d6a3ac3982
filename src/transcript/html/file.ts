import type { Head } from '../head.ts'
import type { Renderer } from '../turns.ts'
import { endOfDocument, startOfDocument } from './document.ts'
import { headHtml } from './head.ts'
import { iconSprite } from './icons.ts'
import { markup } from './markup.ts'
import { newRows } from './rows.ts'

/** An HTML file of one session, complete by itself: nothing in it is folded, and nothing in it leads elsewhere. */
export const newHtml = (head: Head): Renderer => {
  const { author, model, folder } = head
  const rows = newRows({ links: undefined, author, model, folder })
  return {
    start: () =>
      markup`${startOfDocument(head.title)}${iconSprite}<div class="trace alone"><main id="main">${headHtml(head)}<div class="msgs" id="messages">
`.source,
    *turn(turn) {
      for (const { source } of rows.add(turn)) yield source
    },
    *end() {
      for (const { source } of rows.end()) yield source
      yield markup`</div></main></div>\n${endOfDocument}`.source
    },
  }
}
