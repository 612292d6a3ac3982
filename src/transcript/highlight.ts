import hljs, { type Emitter } from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import c from 'highlight.js/lib/languages/c'
import cpp from 'highlight.js/lib/languages/cpp'
import csharp from 'highlight.js/lib/languages/csharp'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import dockerfile from 'highlight.js/lib/languages/dockerfile'
import go from 'highlight.js/lib/languages/go'
import ini from 'highlight.js/lib/languages/ini'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import kotlin from 'highlight.js/lib/languages/kotlin'
import php from 'highlight.js/lib/languages/php'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import swift from 'highlight.js/lib/languages/swift'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { slices } from './slices.ts'

const languages = {
  ...{ bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, php, python, ruby, rust },
  ...{ sql, swift, typescript, xml, yaml },
}

/** A piece of code, and its kind, such as `keyword` or `string`; undefined for other text. */
export type CodeSpan = { readonly text: string; readonly scope: string | undefined }

/** Longer code is not coloured, and neither is code with a longer line. */
const MOST_COLOURED = 16 * 1024
const MOST_LINE = 300
/** Some grammars take quadratic time for some texts, so code is coloured in pieces of this length. */
const PIECE = 2 * 1024

/** Collects spans instead of HTML, so that no text that another library has escaped gets into a file. */
class Spans implements Emitter {
  readonly spans: CodeSpan[] = []
  readonly #scopes: string[] = []
  startScope(name: string) {
    this.#scopes.push(name)
  }
  endScope() {
    this.#scopes.pop()
  }
  openNode(name: string) {
    this.startScope(name)
  }
  closeNode() {
    this.endScope()
  }
  addText(text: string) {
    const scope = this.#scopes.at(-1)
    if (text !== '') this.spans.push({ text, scope: scope?.split('.')[0] })
  }
  __addSublanguage(emitter: Emitter) {
    this.spans.push(...(emitter as Spans).spans)
  }
  finalize() {}
  toHTML() {
    return ''
  }
}

const highlighter = hljs.newInstance()
for (const [name, language] of Object.entries(languages)) highlighter.registerLanguage(name, language)
highlighter.configure({ __emitter: Spans })

const hasLongLine = (text: string): boolean => text.split('\n').some(({ length }) => length > MOST_LINE)

/** Cuts code at line ends, if possible at an empty line. */
export const pieces = (text: string): string[] => {
  const found: string[] = []
  for (let start = 0; start < text.length;) {
    const limit = start + PIECE
    if (limit >= text.length) return [...found, text.slice(start)]
    const empty = text.lastIndexOf('\n\n', limit - 2)
    const line = text.lastIndexOf('\n', limit - 1)
    const end = empty > start ? empty + 2 : line > start ? line + 1 : limit
    found.push(text.slice(start, end))
    start = end
  }
  return found
}

const isColoured = (text: string, language: string): boolean =>
  text.length <= MOST_COLOURED &&
  language.length <= 40 &&
  highlighter.getLanguage(language) !== undefined &&
  !hasLongLine(text)

/** A grammar that fails stops in the middle. Then nothing is coloured, so that no text is lost. */
const coloured = (piece: string, language: string): readonly CodeSpan[] => {
  const { spans } = highlighter.highlight(piece, { language, ignoreIllegals: true })._emitter as Spans
  return spans.map(({ text }) => text).join('') === piece ? spans : [{ text: piece, scope: undefined }]
}

/** The most code of one file that is coloured: for some code a grammar takes ten seconds for a megabyte. */
const MOST_COLOURED_OF_FILE = 1024 * 1024

/**
 * Yields code in coloured pieces, step by step. It is not coloured if its language is unknown, it is too long, or much of the file was
 * coloured before.
 */
export type Highlight = (text: string, language: string) => Generator<readonly CodeSpan[], void>

/** Colours the code of one file. */
export const newHighlight = (): Highlight => {
  let left = MOST_COLOURED_OF_FILE
  return function* (text, language) {
    if (text.length > left || !isColoured(text, language)) {
      for (const slice of slices(text)) yield [{ text: slice, scope: undefined }]
      return
    }
    left -= text.length
    for (const piece of pieces(text)) yield coloured(piece, language)
  }
}

const byExtension: Readonly<Record<string, string>> = {
  mjs: 'javascript',
  cjs: 'javascript',
  mts: 'typescript',
  cts: 'typescript',
  h: 'c',
  toml: 'ini',
  svelte: 'xml',
  vue: 'xml',
}

/** The language of a file by the end of its name; empty if that is unknown. */
export const languageOf = (path: string): string => {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1).toLowerCase()
  if (name === 'dockerfile') return name
  const dot = name.lastIndexOf('.')
  const extension = dot < 0 ? '' : name.slice(dot + 1)
  const language = Object.hasOwn(byExtension, extension) ? byExtension[extension]! : extension
  return language !== '' && language.length <= 20 && highlighter.getLanguage(language) ? language : ''
}
