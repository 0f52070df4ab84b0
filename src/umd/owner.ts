import { DriverError } from "./errors.ts";

/** A device as the owner of objects. */
export interface DeviceOwner {
  /** How messages call it: its process and its kernel file. */
  readonly name: string;
}

/** VALIDATION where an object of one device is given to another; `what` is how the message calls the object. */
export function ofDevice(device: DeviceOwner, owner: DeviceOwner, what: string): void {
  if (owner === device) return;
  throw new DriverError(
    "VALIDATION",
    `${what} of another device: it belongs to ${owner.name}, the call is ${device.name}'s`,
  );
}
