import { apiOf } from '../server/service/app.ts'
import { exitCodes } from '../cli/exit.ts'
import { writeOut } from '../cli/output.ts'
import { readConfig } from '../server/config.ts'
import { wholeDocument } from '../server/http/openapi.ts'

/** Prints the OpenAPI document of a service with default settings. */
export const print = async (): Promise<number> => {
  const config = readConfig({})
  await writeOut(`${JSON.stringify(wholeDocument(apiOf(config), config), null, 2)}\n`)
  return exitCodes.ok
}
