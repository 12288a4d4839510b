import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** A process that keeps something in a folder which other processes use too, also those of other machines and containers. */
export interface WorkOwner {
  readonly pid: number;
  /** Where its process id means anything. */
  readonly place: string;
}

/** This process. */
export function thisProcess(): WorkOwner {
  return { pid: process.pid, place: thisPlace() };
}

/** Whether a process is known to be gone: nothing is known of those elsewhere. */
export function isGone({ pid, place }: WorkOwner): boolean {
  return place === thisPlace() && !isAlive(pid);
}

const known: { place?: string } = {};

/** Machines can have the same name, and containers of one machine have process ids of their own. */
function thisPlace(): string {
  known.place ??= createHash("sha256")
    .update(JSON.stringify([hostname(), attempt(machineId), attempt(processNamespace)]))
    .digest("hex")
    .slice(0, 12);
  return known.place;
}

const machineId = () => readFileSync("/etc/machine-id", "utf8").trim();
const processNamespace = () => readlinkSync("/proc/self/ns/pid");

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
