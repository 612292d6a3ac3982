import { copilotCli } from '../../../../src/client/agents/copilot-cli/index.ts'
import { testRecorded } from '../../support/recorded.ts'

testRecorded(copilotCli, 'copilot', /encryptedContent|reasoningOpaque|transformedContent|System notice/)
