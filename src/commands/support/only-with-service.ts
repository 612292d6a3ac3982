import { UsageError } from '../../cli/exit.ts'

/** Takes the place of the commands of the service in the client that a service hands out (`server/pages/client-package.ts`). */
throw new UsageError(
  'This command works on the service itself, and is not part of its client: run it with `npx tracebook` in the folder in which the service is installed.',
)
