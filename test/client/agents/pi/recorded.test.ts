import * as assert from 'uvu/assert'
import { pi } from '../../../../src/client/agents/pi/index.ts'
import { testRecorded } from '../../support/recorded.ts'

testRecorded(pi, 'pi', /thinkingSignature|sig-abc|redacted-sig|partialJson/, (messages, expected) => {
  if (!('bashExecutions' in expected)) return
  const texts = messages.flatMap(({ role, parts }) => (role === 'system' ? parts : []))
  const commands = texts.filter((part) => part.type === 'text' && part.content.text.startsWith('! '))
  assert.is(commands.length, expected.bashExecutions)
})
