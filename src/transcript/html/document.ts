import { type Html, markup } from './markup.ts'
import { code } from './style/code.ts'
import { colours } from './style/colours.ts'
import { layout } from './style/layout.ts'
import { media } from './style/media.ts'
import { prose } from './style/prose.ts'
import { turns } from './style/turns.ts'

/** The style sheet, without any address in it. A later rule wins over an earlier one. */
const style = [colours, layout, prose, turns, code, media]

/**
 * The beginning of an HTML document, up to its body. The policy stands in the document, too, because a file is opened from disks and
 * mails, where no header comes with it.
 */
export const startOfDocument = (title: string): Html => markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>
${style}</style>
</head>
<body>
`

export const endOfDocument: Html = markup`</body>
</html>
`
