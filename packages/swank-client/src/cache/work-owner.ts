import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { attempted } from "../base/attempted.js";

/** A process that owns a file in a folder that it shares with other processes, even on other machines and in containers. */
export interface WorkOwner {
  readonly pid: number;
  /** The machine or container in which its process id is valid. */
  readonly place: string;
}

/** This process. */
export function thisProcess(): WorkOwner {
  return { pid: process.pid, place: thisPlace() };
}

/** True if a process is known to have ended. Nothing is known about processes elsewhere. */
export function isGone({ pid, place }: WorkOwner): boolean {
  return place === thisPlace() && !isAlive(pid);
}

const known: { place?: string } = {};

/** Identifies the machine and container: machines can have the same name, and each container has its own process ids. */
function thisPlace(): string {
  known.place ??= createHash("sha256")
    .update(JSON.stringify([hostname(), attempted(machineId) ?? "", attempted(processNamespace) ?? ""]))
    .digest("hex")
    .slice(0, 12);
  return known.place;
}

const machineId = () => readFileSync("/etc/machine-id", "utf8").trim();
const processNamespace = () => readlinkSync("/proc/self/ns/pid");

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
