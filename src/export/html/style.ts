import { code } from './style/code.ts'
import { colours } from './style/colours.ts'
import { layout } from './style/layout.ts'
import { media } from './style/media.ts'
import { prose } from './style/prose.ts'
import { turns } from './style/turns.ts'

/** The style of a page, without any address in it. A later rule wins over an earlier one. */
export const style = [colours, layout, prose, turns, code, media]
