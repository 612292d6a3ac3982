import * as assert from 'uvu/assert'
import { geminiCli } from '../../../../src/client/agents/gemini-cli/index.ts'
import { testRecorded } from '../../support/recorded.ts'

testRecorded(geminiCli, 'gemini', /"thoughtSignature"|"resultDisplay"/, (messages) => {
  assert.equal(
    messages.filter(({ model, role }) => model !== undefined && role !== 'assistant'),
    [],
  )
})
