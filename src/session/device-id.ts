import { EXAMPLE_DEVICE_ID } from '../contract/fields.ts'
import { invalid } from '../http/http-error.ts'
import { Key } from '../contract/parameters.ts'
import { type NetworkSettings, isReachedByOthers } from '../http/reach.ts'

/** A shorter id can be guessed, and is easily one that another device has. */
const LEAST = 16

/** The secret that a device is known by. */
export const DeviceId = Key.meta({
  description:
    'A secret that the client makes once for its machine and keeps: whoever sends it is signed in as this device. Take ' +
    `32 random characters, as of a UUID. At least ${LEAST} characters where others than its own machine can reach the service; ` +
    `\`${EXAMPLE_DEVICE_ID}\` is refused`,
  examples: [EXAMPLE_DEVICE_ID],
})

/** @throws HttpError invalid_request for the example, and for an id that strangers on the network could guess */
export const assertDeviceId = (deviceId: string, network: NetworkSettings): void => {
  if (deviceId === EXAMPLE_DEVICE_ID) throw invalid('deviceId', 'is an example: make 32 random characters of your own')
  if ([...deviceId].length < LEAST && isReachedByOthers(network))
    throw invalid('deviceId', `must have at least ${LEAST} characters on a service that others can reach`)
}
