import { races } from "../swank-client/live/races.js";

races(1);
