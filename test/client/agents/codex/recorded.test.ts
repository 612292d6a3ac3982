import { codex } from '../../../../src/client/agents/codex/index.ts'
import { testRecorded } from '../../support/recorded.ts'

// What agents tell each other is kept, two messages, and the error that ends a turn.
const withAgentMessages = {
  messages: 24,
  messagesByRole: { user: 6, assistant: 8, system: 10 },
  parts: { text: 10, thinking: 1, tool_call: 6, tool_result: 5, error: 2 },
  partsTotal: 24,
}

testRecorded(codex, 'codex', /encrypted_content|base_instructions|replacement_history|"developer"/, () => {}, {
  'agents/codex/agent-sessions/small.jsonl': withAgentMessages,
})
