import type { Language } from './highlight-js.d.ts'

declare const language: Language
export default language
