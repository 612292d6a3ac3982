import type { SignInServices } from '../session/services.ts'
import type { Handshakes } from './handshakes.ts'
import type { SigninSettings } from './settings.ts'

/** The parts of the service that the routes for sign-in with the code host need. */
export type CodehostServices = SignInServices & {
  readonly config: SigninSettings
  readonly handshakes: Handshakes
}
