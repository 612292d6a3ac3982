import { type Html, markup } from '../../transcript/html/markup.ts'

/** A command line to copy. */
export const commandHtml = (line: string): Html => markup`<div class="cmd"><code>${line}</code></div>\n`
