import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { eachWord, isBoundary, isWhole, neededTokens, tokensOf } from '../../../../src/server/trace/tokens/words.ts'
import { folded } from '../../../../src/base/folded.ts'

const test = suite('words and their tokens')

const tokens = (text: string): string[] => {
  const found = new Set<string>()
  eachWord(text, (word, isCjk) => tokensOf(word, isCjk).forEach((token) => found.add(token)))
  return [...found]
}

test('a word is found by itself and its parts, one of three parts and more by their pairs', () => {
  for (const [text, expected] of [
    ['', []],
    ['a b, c!', []],
    ['Hello, world', ['hello', 'world']],
    ['getUserName', ['getusername', 'get', 'user', 'name', 'getuser', 'username']],
    ['getUserName_v2', ['getusername', 'getusername_v2', 'get', 'user', 'name', 'getuser', 'username', 'name_v', 'v2']],
    ['HTTPServer', ['httpserver', 'http', 'server']],
    ['tool_use_id', ['tool', 'use', 'id', 'tool_use', 'use_id']],
    ['utf8', ['utf8', 'utf']],
    ['$scope __proto__', ['$scope', 'scope', '__proto__', 'proto']],
    ['src/http/app.ts', ['src', 'http', 'app', 'ts']],
    ['Überprüfung ПРИВЕТ', ['überprüfung', 'привет']],
    ['修复登录', ['修', '复', '修复', '登', '复登', '录', '登录']],
    ['重跑gen', ['重', '跑', '重跑', 'gen']],
    ['\u{20000}\u{20001}', ['\u{20000}', '\u{20001}', '\u{20000}\u{20001}']],
  ] as const)
    assert.equal(tokens(text), expected, text)
})

test('a hash is found by the short forms in which it is written', () => {
  const hash = '0123456789abcdef0123'
  for (const short of [hash.slice(0, 7), hash.slice(0, 12)]) assert.ok(tokens(`at ${hash}`).includes(short), short)
})

test('random text is found only as a whole, so that Base64 does not fill the index', () => {
  const random = 'aGVsbG8gd29ybGQsIHRoaXMgaXMgYSB0ZXN0IG9mIEJhc2U2NA'
  assert.equal(tokens(random), [random.toLowerCase()])
  assert.ok(neededTokens(random)[0]!.some((all) => all.every((token) => token === random.toLowerCase())))
  const hash = '9fceb02d0ae598e95dc970b74767f19372d61af8'
  assert.equal(tokens(hash), [hash, hash.slice(0, 7), hash.slice(0, 12)])
  assert.ok(tokens('test_that_a_user_who_is_not_a_member_gets_no_answer').includes('not_a'))
})

/** Whether the index proposes a text for a query. */
const isProposed = (text: string, query: string): boolean => {
  const found = new Set(tokens(text))
  return neededTokens(query).every((alternatives) => alternatives.some((all) => all.every((token) => found.has(token))))
}

test('names that people write with many short parts between underscores are found by these', () => {
  for (const [name, ...queries] of [
    ['utf8mb4_ja_0900_as_cs_ks', 'utf8mb4', 'ja_0900', 'cs_ks'],
    ['llama_3_1_8B_Q4_K_M', 'llama', 'llama_3_1_8B', 'Q4_K_M'],
    ['test_e2e_k8s_s3_v2', 'test_e2e', 'k8s', 's3_v2'],
    ['us_east_1_az_2_subnet_a_v2', 'us_east_1', 'subnet'],
    ['mp3_to_mp4_h264_x265', 'mp3', 'h264'],
    ['f32x4_convert_i32x4_s', 'convert', 'i32x4'],
    ['v1_2_3_4_5_6_7_8_9', 'v1_2_3'],
  ] as const)
    for (const query of queries) assert.ok(isProposed(name, query), `${query} in ${name}`)
})

test('an identifier and its runs are found in any case', () => {
  for (const [name, ...queries] of [
    ['getUserName', 'getusername', 'GETUSERNAME', 'getuserName', 'username', 'USER'],
    ['getusername', 'getUserName'],
    ['KubernetesConfigMap', 'kubernetesconfigmap', 'configmap', 'kubernetesConfigmap'],
    ['getUserName_v2Final', 'getusername', 'getusername_v2final', 'GetUserName'],
  ] as const)
    for (const query of queries) assert.ok(isProposed(name, query), `${query} in ${name}`)
})

test('random text beside an underscore is found without what is on the other side of that', () => {
  for (const [text, ...queries] of [
    ['toolu_01A09q90qw90lq917835lq9', 'toolu', '01A09q90qw90lq917835lq9', 'toolu_01A09q90qw90lq917835lq9'],
    ['sha256_3a7bd3e2360a3d29eea436fcfb7e44c7', 'sha256', '3a7bd3e2360a3d29eea436fcfb7e44c7', '3a7bd3e'],
    ['random_x1y2z3w4x5InternationalOrganisationStandards', 'x1y2z3w4x5', 'random_x1y2z3w4x5'],
  ] as const)
    for (const query of queries) assert.ok(isProposed(text, query), `${query} in ${text}`)
})

test('a very long word is found by its beginning', () => {
  assert.equal(tokens('x'.repeat(10_000)), ['x'.repeat(80)])
})

test('a boundary is between words and between their parts', () => {
  const text = 'getHTTPName2 修复 a\u0301b \u{1d400}x'
  const found = [...text].reduce(
    ({ at, pieces }, character) => {
      if (at > 0 && isBoundary(text, at)) pieces.push('')
      pieces[pieces.length - 1] += character
      return { at: at + character.length, pieces }
    },
    { at: 0, pieces: [''] },
  ).pieces
  assert.equal(found, ['get', 'HTTP', 'Name', '2', ' ', '修', '复', ' ', 'a\u0301b', ' ', '\u{1d400}x'])
})

/** Whether a text without joiners has so many short parts that only the whole is a token. */
const hasRandom = (text: string): boolean =>
  text.split(/[^\p{L}\p{M}\p{N}]|(?<=[修复ー])|(?=[修复ー])/u).some((run) => {
    const parts = Array.from(run, (_, at) => at).filter((at) => isBoundary(run, at)).length
    return parts > 8 && run.length < 3 * parts
  })

test('a text that has another one as whole words or parts of words has all its needed tokens', () => {
  const piece = fc.constantFrom('get', 'User', 'HTTP', 'Server', '_', '$', '8', '42', '修', '复', 'ー', ' ', '/', '.', '-', 'é', 'ß', 'Ünü', '\u{20000}', 'cafe1234567', 'deadbeef') // prettier-ignore
  const property = fc.property(fc.array(piece, { maxLength: 12 }), fc.nat(), fc.nat(), (pieces, a, b) => {
    const text = pieces.join('').slice(0, 80)
    const lower = folded(text)
    const [start, end] = [a % (text.length + 1), b % (text.length + 1)].sort((x, y) => x - y) as [number, number]
    if (!isWhole(text, lower, [start, end])) return
    if (hasRandom(text)) return
    const found = new Set(tokens(text))
    for (const alternatives of neededTokens(text.slice(start, end)))
      assert.ok(
        alternatives.some((all) => all.every((token) => found.has(token))),
        `${text.slice(start, end)} in ${text}`,
      )
  })
  fc.assert(property, { numRuns: 20_000 })
})

test('the beginning of a hash counts as a whole word, the beginning of another word does not', () => {
  const isFound = (text: string, part: string) => {
    const start = text.indexOf(part)
    return isWhole(text, folded(text), [start, start + part.length])
  }
  assert.is(isFound('at 0a1b2c3d4e5f60718', '0a1b2c3'), true)
  assert.is(isFound('at 0A1B2C3D4E5F60718', '0A1B2C3D4E'), true)
  assert.is(isFound('aabbccdd', 'aabbccd'), false)
  assert.is(isFound('errors', 'error'), false)
  assert.is(isFound('stderr', 'err'), false)
})

test.run()
