import { markup } from '../../../transcript/html/markup.ts'
import { style as transcriptStyle } from '../../../transcript/html/document.ts'
import { changes } from './changes.ts'
import { forms } from './forms.ts'
import { insights } from './insights.ts'
import { lists } from './lists.ts'
import { scripts } from './scripts.ts'
import { search } from './search.ts'
import { shell } from './shell.ts'

const rules = markup`${[shell, lists, changes, forms, search, insights, scripts]}`.source

/** The style sheet of the pages, on few lines: that of transcripts, which declares the layers, and what only pages have. */
export const style: string = `${transcriptStyle}${rules}`.replaceAll(/\n +/g, '\n').replaceAll(/(?<=[{};,])\n/g, '')
