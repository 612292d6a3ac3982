import type { Finder } from './finding.ts'
import { isPlaceholder } from './placeholder.ts'

/** A line of an environment file, also as an agent shows it with a line number before. */
const line =
  /^[ \t]{0,8}(?:[0-9]{1,6}[→:|\t ]\s{0,4})?(?:export[ \t]{1,4})?([A-Za-z_][A-Za-z0-9_]{0,100})[ \t]{0,4}=[ \t]{0,4}(?:"([^"\n]{0,4000})"|'([^'\n]{0,4000})'|([^\s#"'][^\n#]{0,4000}))/gm

/** Settings that say nothing: switches, numbers, ports, hosts and plain addresses without a password. */
const harmless =
  /^(?:true|false|yes|no|on|off|[0-9.]{1,9}|development|production|staging|test|debug|info|warn|error|localhost|[a-z]+:\/\/[\w.:-]+(?:\/[\w./-]*)?)$/i
const MIN_LENGTH = 6

/** Whether a path is that of a file with the environment of a program; examples of one are not. */
export const isEnvFile = (path: string): boolean =>
  /(?:^|[\\/])\.env(?:\.(?!example|sample|template|dist)[\w.-]+)?$/.test(path)

/** The values of an environment file. */
export const findEnvValues: Finder = (text) =>
  [...text.matchAll(line)].flatMap(({ 0: whole, 2: double, 3: single, 4: bare, index }) => {
    const value = (double ?? single ?? bare ?? '').trimEnd()
    if (value.length < MIN_LENGTH || harmless.test(value) || isPlaceholder(value)) return []
    const start = index + whole.lastIndexOf(value)
    return [{ rule: 'env-value', start, end: start + value.length }]
  })
