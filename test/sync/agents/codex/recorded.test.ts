import { codex } from '../../../../src/sync/agents/codex/index.ts'
import { testRecorded } from '../../support/recorded.ts'

testRecorded(codex, 'codex', /encrypted_content|base_instructions|replacement_history|"developer"/)
