// Generated from the rows of src/isa by scripts/generate/isa-counts.ts. Do not edit.
import type { CountRow } from "./count.ts";

/** Of a format: encoding (lsb, width, value), flat segment, opcode (lsb, width), dwords, lsb of nsa, sources, opcodes. */
// biome-ignore format: a table
export const countRows: readonly CountRow[] = [
  [23, 9, 381, -1, 8, 8, 1, -1, [0, 8], "!!!#$$$$$$$$$$$$$$$$$$$$$$$$$$$%&'&!$$$$$$$$$$%%$$!!$!!$$$$$$$$$$$$$$$$$!$"],
  [23, 9, 382, -1, 16, 7, 1, -1, [0, 8, 8, 8], "()*+,-./01234444!!44"],
  [23, 9, 383, -1, 16, 7, 1, -1, [], "%%5%6788889%:%%%%%%%%%%8888%!!%;%%%<%%!!%"],
  [28, 4, 11, -1, 23, 5, 1, -1, [], "=%%%%%%%%%%%%%%>%!%%!?&@<<<&&"],
  [30, 2, 2, -1, 23, 7, 1, -1, [0, 8, 8, 8], "A4B444444444!!44444444444444444444444444444!4!444444444"],
  [25, 7, 63, -1, 9, 8, 1, -1, [0, 9], "CDCEEDDDD!DDDDDEEDDDDEEEEEEC!!!!DDDDDF!F!!FF!!FE!E!FEFFDDDDDEEEDDCDCC!!!C!!!!!!!DDDDFFFFFDDDDDDDFFDDDC!!C"],
  [25, 7, 62, -1, 17, 8, 1, -1, [0, 9, 9, 8], "DDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEE!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!DDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDEDDDDDD!DDDDDDDDEDDDDDD!DDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDD"],
  [23, 9, 408, -1, 16, 7, 2, -1, [32, 9, 41, 9, 50, 9], "GHHHHHHHHGHHHHGHHHH!!!!!!!!!!!!!GGG"],
  [26, 6, 53, -1, 16, 10, 2, -1, [32, 9, 41, 9, 50, 9], "HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIII!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHIHHHHHH!HHHHHHHHIHHHHHH!HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH!H!HHHHHHHJHJ!!HHHHHH!H!H!HHHHH!!!!!!HHHHHHH!!!H!!HHHHH!!HHH!!!!G!GGGGGGGGGGKGGGGGGGGGGGGGGGGGGGK!!!IIIIIJJ!JGKGKGGGIHRRG!!!!!!!LM!NNMMMM!MMMMMNNMMMMNNNNNNL!!!!MMMMMO!O!!OO!!ON!N!ONOOMMMMMNNNMMLMLL!!!L!!!!!!!MMMMOOOOOMMMMMMMOOMMM!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!HHH!HHH!HHHHHHHHHHHHHH!!!!H!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!G!!!GGGG!!!G!!!!!GGGGGGGGG!!!!GGPHHHHHH!HHHH!G!G!GGG!GHQQ!!!!!!H"],
  [26, 6, 61, -1, 18, 8, 2, -1, [], "SSSSS!!!SSSSS!!!!!!!!!!!!!!!!!!TT!!!SS"],
  [26, 6, 54, -1, 18, 8, 2, -1, [], "UUUUUUUUUUUUUUUUUUUUVU!!!!!!!!UUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUUU!UUUUUUUUUUUUUUUUUUUU!U!!!!!!!!!!UUUUUUUUUUUUUUUUUUUU!!UUU!!!!!U!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!UUUUUUUU!!!!!!!!UUUU!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!UU!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!UU"],
  [26, 6, 56, -1, 18, 8, 2, -1, [], "WWWWXXXXWWWWWWWW!!!!!!!!XXXXXXXXWWWWWWWX!!!!!!!!WWWWWWWWWWWWWWWWW!!!!!!!!!!!!!!!WWWW!WWWWWWWWWWWW!!!!!!!!!!!!!!!!YY!!!!!!!!!!!!!WWWWXXXX"],
  [26, 6, 58, -1, 16, 3, 2, -1, [], "WWWWXXXX"],
  [26, 6, 60, -1, 18, 7, 2, 1, [], "WWWWWW!!XXXX!!WWWWW!WWWWWWWWWWWWZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZ!!ZZZZZZ!!ZZZZZZ!!ZZZZZZ!!ZZZZZZ!!!!!!ZZZZZZZZ"],
  [26, 6, 62, -1, 24, 1, 2, -1, [], "["],
  [26, 6, 50, -1, 16, 2, 1, -1, [], "LLL"],
  [26, 6, 55, 0, 18, 7, 2, -1, [], "!!!!!!!!YYYYYYYY!!!!!!!!YYYYYYYYYYYYYY!!!!!!!!!!YYYY!YYYYYYYYYYYY!!!!!!!!!!!!!!!YYYY!YYYYYYYYYYYY"],
  [26, 6, 55, 1, 18, 7, 2, -1, [], "!!!!!!!!WWWWWWWW!!!!!!!!XXXXXXXXWWWWWW"],
  [26, 6, 55, 2, 18, 7, 2, -1, [], "!!!!!!!!WWWWWWWW!!!!!!WXXXXXXXXXWWWWWW!!!!!!!!!!WWWWWWWWWWWWWWWWW!!!!!!!!!!!!!!!WWWW!WWWWWWWWWWWW"],
  [31, 1, 0, -1, 25, 6, 1, -1, [0, 9, 9, 8], "!D!DDDDDDDFDF!!DDDDDD!D!D!DDDDD!!!!!!DDDDDDD]]!D!!DDDDD]]DDD"],
];

/** What the characters of the rows stand for, from "#" on. */
// biome-ignore format: a table
export const countFacts: readonly number[] = [524552, 264, 8, 14, 270, 5767944, 6292232, 6816520, 7340808, 7865096, 8389384, 8913672, 9437960, 9962248, 10486536, 11010824, 11535112, 776, 3670030, 4194318, 4718606, 5242894, 16392, 8207, 32776, 15, 1048584, 2621448, 2056, 3145743, 1573640, 2097928, 4105, 4361, 4481, 4385, 1801, 777, 897, 801, 1921, 9, 265, 385, 289, 521, 1545, 1825, 65546, 10, 131084, 12, 196619, 327691, 11, 262155, 13, -1, 6409];

/** Codes of source 0 behind which a DPP or SDWA dword stands. */
export const secondMarkers: readonly number[] = [250, 233, 234, 249];
