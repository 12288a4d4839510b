import { races } from "./races.js";

races(0.05);
