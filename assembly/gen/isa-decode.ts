// Generated from the rows of src/isa by scripts/generate/isa.ts. Do not edit.

/** Opcode lookup and field extraction for the simulator. */

import { Format, opFormat, opLiteralFields } from "./isa-ops.ts";

const SOP1 = memory.data<u16>([
  0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
  22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 0, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44,
  45, 46, 0, 0, 47, 0, 0, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64,
  0, 65, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);

const SOPC = memory.data<u16>([
  66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 0, 0, 82, 83, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0,
]);

const SOPP = memory.data<u16>([
  84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107,
  108, 109, 110, 111, 0, 0, 112, 113, 114, 115, 116, 117, 118, 119, 0, 0, 120, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0,
]);

const SOPK = memory.data<u16>([
  121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 0, 138, 139, 0, 140, 141, 142,
  143, 144, 145, 146, 147, 0, 0, 0,
]);

const SOP2 = memory.data<u16>([
  148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159, 0, 0, 160, 161, 162, 163, 164, 165, 166, 167, 168, 169,
  170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 186, 187, 188, 0, 189, 0, 190, 191,
  192, 193, 194, 195, 196, 197, 198, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0,
]);

const VOP1 = memory.data<u16>([
  199, 200, 201, 202, 203, 204, 205, 206, 207, 0, 208, 209, 210, 211, 212, 213, 214, 215, 216, 217, 218, 219, 220, 221,
  222, 223, 224, 225, 0, 0, 0, 0, 226, 227, 228, 229, 230, 231, 0, 232, 0, 0, 233, 234, 0, 0, 235, 236,
  0, 237, 0, 238, 239, 240, 241, 242, 243, 244, 245, 246, 247, 248, 249, 250, 251, 252, 253, 254, 255, 0, 0, 0,
  256, 0, 0, 0, 0, 0, 0, 0, 257, 258, 259, 260, 261, 262, 263, 264, 265, 266, 267, 268, 269, 270, 271, 272,
  273, 274, 275, 276, 277, 278, 0, 0, 279, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);

const VOPC = memory.data<u16>([
  280, 281, 282, 283, 284, 285, 286, 287, 288, 289, 290, 291, 292, 293, 294, 295, 296, 297, 298, 299, 300, 301, 302, 303,
  304, 305, 306, 307, 308, 309, 310, 311, 312, 313, 314, 315, 316, 317, 318, 319, 320, 321, 322, 323, 324, 325, 326, 327,
  328, 329, 330, 331, 332, 333, 334, 335, 336, 337, 338, 339, 340, 341, 342, 343, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 344, 345, 346, 347, 348, 349, 350, 351, 352, 353, 354, 355, 356, 357, 358, 359,
  360, 361, 362, 363, 364, 365, 366, 367, 368, 369, 370, 371, 372, 373, 374, 375, 376, 377, 378, 379, 380, 381, 382, 383,
  384, 385, 386, 387, 388, 389, 390, 0, 391, 392, 393, 394, 395, 396, 397, 398, 399, 400, 401, 402, 403, 404, 405, 0,
  406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 419, 420, 421, 422, 423, 424, 425, 426, 427, 428, 429,
  430, 431, 432, 433, 434, 435, 436, 437, 438, 439, 440, 441, 442, 443, 444, 445, 446, 447, 448, 449, 450, 451, 452, 453,
  454, 455, 456, 457, 458, 459, 460, 461, 462, 463, 464, 465, 466, 467, 468, 469,
]);

const VOP3P = memory.data<u16>([
  470, 471, 472, 473, 474, 475, 476, 477, 478, 479, 480, 481, 482, 483, 484, 485, 486, 487, 488, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 489, 490, 491, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0,
]);

const VOP3 = memory.data<u16>([
  492, 493, 494, 495, 496, 497, 498, 499, 500, 501, 502, 503, 504, 505, 506, 507, 508, 509, 510, 511, 512, 513, 514, 515,
  516, 517, 518, 519, 520, 521, 522, 523, 524, 525, 526, 527, 528, 529, 530, 531, 532, 533, 534, 535, 536, 537, 538, 539,
  540, 541, 542, 543, 544, 545, 546, 547, 548, 549, 550, 551, 552, 553, 554, 555, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 556, 557, 558, 559, 560, 561, 562, 563, 564, 565, 566, 567, 568, 569, 570, 571,
  572, 573, 574, 575, 576, 577, 578, 579, 580, 581, 582, 583, 584, 585, 586, 587, 588, 589, 590, 591, 592, 593, 594, 595,
  596, 597, 598, 599, 600, 601, 602, 0, 603, 604, 605, 606, 607, 608, 609, 610, 611, 612, 613, 614, 615, 616, 617, 0,
  618, 619, 620, 621, 622, 623, 624, 625, 626, 627, 628, 629, 630, 631, 632, 633, 634, 635, 636, 637, 638, 639, 640, 641,
  642, 643, 644, 645, 646, 647, 648, 649, 650, 651, 652, 653, 654, 655, 656, 657, 658, 659, 660, 661, 662, 663, 664, 665,
  666, 667, 668, 669, 670, 671, 672, 673, 674, 675, 676, 677, 678, 679, 680, 681, 0, 682, 0, 683, 684, 685, 686, 687,
  688, 689, 690, 691, 692, 0, 0, 693, 694, 695, 696, 697, 698, 0, 699, 0, 700, 0, 701, 702, 703, 704, 705, 0,
  0, 0, 0, 0, 0, 706, 707, 708, 901, 902, 903, 709, 0, 0, 0, 710, 0, 0, 711, 712, 713, 714, 715, 0,
  0, 716, 717, 718, 0, 0, 0, 0, 719, 0, 720, 721, 722, 723, 724, 725, 726, 727, 728, 729, 730, 731, 732, 733,
  734, 735, 736, 737, 738, 739, 740, 741, 742, 743, 744, 745, 746, 747, 748, 749, 750, 0, 0, 0, 751, 752, 753, 754,
  755, 756, 757, 0, 758, 904, 905, 759, 760, 761, 762, 763, 764, 765, 906, 907, 766, 0, 0, 0, 0, 0, 0, 0,
  767, 768, 0, 769, 770, 771, 772, 773, 774, 0, 775, 776, 777, 778, 779, 780, 781, 782, 783, 784, 785, 786, 787, 788,
  789, 790, 791, 792, 0, 0, 0, 0, 793, 794, 795, 796, 797, 798, 0, 799, 0, 0, 800, 801, 0, 0, 802, 803,
  0, 804, 0, 805, 806, 807, 808, 809, 810, 811, 812, 813, 814, 815, 816, 817, 818, 819, 820, 821, 822, 0, 0, 0,
  823, 0, 0, 0, 0, 0, 0, 0, 824, 825, 826, 827, 828, 829, 830, 831, 832, 833, 834, 835, 836, 837, 838, 839,
  840, 841, 842, 843, 844, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 845,
  846, 847, 0, 848, 849, 850, 0, 851, 852, 853, 854, 855, 856, 857, 858, 908, 909, 859, 860, 861, 862, 0, 0, 0,
  0, 910, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 863, 0, 0, 0, 864, 865, 866, 867,
  0, 0, 0, 868, 0, 0, 0, 0, 0, 869, 870, 871, 872, 873, 874, 875, 876, 877, 0, 0, 0, 0, 878, 879,
  880, 881, 882, 883, 884, 885, 886, 0, 887, 888, 889, 890, 0, 891, 0, 892, 0, 893, 894, 895, 0, 896, 897, 898,
  899, 0, 0, 0, 0, 0, 0, 900, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);

const SMEM = memory.data<u16>([
  911, 912, 913, 914, 915, 0, 0, 0, 916, 917, 918, 919, 920, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 921, 922, 0, 0, 0, 923, 924, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);

const DS = memory.data<u16>([
  925, 926, 927, 928, 929, 930, 931, 932, 933, 934, 935, 936, 937, 938, 939, 940, 941, 942, 943, 944, 945, 946, 0, 0,
  0, 0, 0, 0, 0, 0, 947, 948, 949, 950, 951, 952, 953, 954, 955, 956, 957, 958, 959, 960, 961, 962, 963, 964,
  965, 966, 967, 968, 969, 970, 971, 972, 973, 974, 975, 976, 977, 978, 979, 0, 980, 981, 982, 983, 984, 985, 986, 987,
  988, 989, 990, 991, 992, 993, 994, 995, 996, 997, 998, 999, 0, 1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 1015, 1016, 1017, 1018, 1019, 1020, 0, 0, 1021, 1022,
  1023, 0, 0, 0, 0, 0, 1024, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1025, 1026, 1027, 1028, 1029, 1030, 1031, 1032,
  0, 0, 0, 0, 0, 0, 0, 0, 1033, 1034, 1035, 1036, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 1037, 1038, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1039, 1040,
]);

const MUBUF = memory.data<u16>([
  1041, 1042, 1043, 1044, 1045, 1046, 1047, 1048, 1049, 1050, 1051, 1052, 1053, 1054, 1055, 1056, 0, 0, 0, 0, 0, 0, 0, 0,
  1057, 1058, 1059, 1060, 1061, 1062, 1063, 1064, 1065, 1066, 1067, 1068, 1069, 1070, 1071, 1072, 0, 0, 0, 0, 0, 0, 0, 0,
  1073, 1074, 1075, 1076, 1077, 1078, 1079, 1080, 1081, 1082, 1083, 1084, 1085, 1086, 1087, 1088, 1089, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 1090, 1091, 1092, 1093, 0, 1094, 1095, 1096, 1097, 1098, 1099, 1100, 1101, 1102, 1103, 1104,
  1105, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1106, 1107, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 1108, 1109, 1110, 1111, 1112, 1113, 1114, 1115, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);

const MTBUF = memory.data<u16>([
  1116, 1117, 1118, 1119, 1120, 1121, 1122, 1123,
]);

const MIMG = memory.data<u16>([
  1124, 1125, 1126, 1127, 1128, 1129, 0, 0, 1130, 1131, 1132, 1133, 0, 0, 1134, 1135, 1136, 1137, 1138, 0, 1139, 1140, 1141, 1142,
  1143, 1144, 1145, 1146, 1147, 1148, 1149, 1150, 1151, 1152, 1153, 1154, 1155, 1156, 1157, 1158, 1159, 1160, 1161, 1162, 1163, 1164, 1165, 1166,
  1167, 1168, 1169, 1170, 1171, 1172, 1173, 1174, 1175, 1176, 1177, 1178, 1179, 1180, 1181, 1182, 1183, 1184, 0, 0, 1185, 1186, 1187, 1188,
  1189, 1190, 0, 0, 1191, 1192, 1193, 1194, 1195, 1196, 0, 0, 1197, 1198, 1199, 1200, 1201, 1202, 0, 0, 1203, 1204, 1205, 1206,
  1207, 1208, 0, 0, 0, 0, 0, 0, 1209, 1210, 1211, 1212, 1213, 1214, 1215, 1216, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0,
]);

const EXP = memory.data<u16>([
  1217, 0,
]);

const VINTRP = memory.data<u16>([
  1218, 1219, 1220, 0,
]);

const FLAT = memory.data<u16>([
  0, 0, 0, 0, 0, 0, 0, 0, 1221, 1222, 1223, 1224, 1225, 1226, 1227, 1228, 0, 0, 0, 0, 0, 0, 0, 0,
  1229, 1230, 1231, 1232, 1233, 1234, 1235, 1236, 1237, 1238, 1239, 1240, 1241, 1242, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  1243, 1244, 1245, 1246, 0, 1247, 1248, 1249, 1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 1259, 1260, 1261, 1262, 0, 1263, 1264, 1265, 1266, 1267, 1268, 1269, 1270, 1271, 1272, 1273,
  1274, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1275, 1276, 1277, 1278, 1279, 1280, 1281, 1282,
  0, 0, 0, 0, 0, 0, 0, 0, 1283, 1284, 1285, 1286, 1287, 1288, 1289, 1290, 1291, 1292, 1293, 1294, 1295, 1296, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  1297, 1298, 1299, 1300, 1301, 1302, 1303, 1304, 0, 0, 0, 0, 0, 0, 1305, 1306, 1307, 1308, 1309, 1310, 1311, 1312, 1313, 1314,
  1315, 1316, 1317, 1318, 1319, 1320, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1321, 1322, 1323, 1324, 1325, 1326, 1327, 1328,
  1329, 1330, 1331, 1332, 1333, 1334, 1335, 1336, 1337, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  1338, 1339, 1340, 1341, 0, 1342, 1343, 1344, 1345, 1346, 1347, 1348, 1349, 1350, 1351, 1352, 1353, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0,
]);

const VOP2 = memory.data<u16>([
  0, 1354, 0, 1355, 1356, 1357, 1358, 1359, 1360, 1361, 1362, 1363, 1364, 0, 0, 1365, 1366, 1367, 1368, 1369, 1370, 0, 1371, 0,
  1372, 0, 1373, 1374, 1375, 1376, 1377, 0, 0, 0, 0, 0, 0, 1378, 1379, 1380, 1381, 1382, 1383, 1384, 1385, 1386, 0, 1387,
  0, 0, 1388, 1389, 1390, 1391, 1392, 1393, 1394, 1395, 1396, 1397, 0, 0, 0, 0,
]);

/** The `Op` of an instruction's first dword; `Op.none` where the rows have none. */
export function decodeOp(w: u32): u32 {
  if (w >>> 23 == 0x17d) return load<u16>(SOP1 + (<usize>((w >>> 8) & 0xff) << 1));
  if (w >>> 23 == 0x17e) return load<u16>(SOPC + (<usize>((w >>> 16) & 0x7f) << 1));
  if (w >>> 23 == 0x17f) return load<u16>(SOPP + (<usize>((w >>> 16) & 0x7f) << 1));
  if (w >>> 28 == 0xb) return load<u16>(SOPK + (<usize>((w >>> 23) & 0x1f) << 1));
  if (w >>> 30 == 0x2) return load<u16>(SOP2 + (<usize>((w >>> 23) & 0x7f) << 1));
  if (w >>> 25 == 0x3f) return load<u16>(VOP1 + (<usize>((w >>> 9) & 0xff) << 1));
  if (w >>> 25 == 0x3e) return load<u16>(VOPC + (<usize>((w >>> 17) & 0xff) << 1));
  if (w >>> 23 == 0x198) return load<u16>(VOP3P + (<usize>((w >>> 16) & 0x7f) << 1));
  if (w >>> 26 == 0x35) return load<u16>(VOP3 + (<usize>((w >>> 16) & 0x3ff) << 1));
  if (w >>> 26 == 0x3d) return load<u16>(SMEM + (<usize>((w >>> 18) & 0xff) << 1));
  if (w >>> 26 == 0x36) return load<u16>(DS + (<usize>((w >>> 18) & 0xff) << 1));
  if (w >>> 26 == 0x38) return load<u16>(MUBUF + (<usize>((w >>> 18) & 0xff) << 1));
  if (w >>> 26 == 0x3a) return load<u16>(MTBUF + (<usize>((w >>> 16) & 0x7) << 1));
  if (w >>> 26 == 0x3c) return load<u16>(MIMG + (<usize>((w >>> 18) & 0x7f) << 1));
  if (w >>> 26 == 0x3e) return load<u16>(EXP + (<usize>((w >>> 24) & 0x1) << 1));
  if (w >>> 26 == 0x32) return load<u16>(VINTRP + (<usize>((w >>> 16) & 0x3) << 1));
  if (w >>> 26 == 0x37) return load<u16>(FLAT + (<usize>((((w >>> 14) & 3) << 7) | ((w >>> 18) & 0x7f)) << 1));
  if (w >>> 31 == 0x0) return load<u16>(VOP2 + (<usize>((w >>> 25) & 0x3f) << 1));
  return 0;
}

/** Dwords of the instruction without literal, DPP or SDWA dword. */
export function baseDwords(op: u32): u32 {
  const f = opFormat(op);
  return f == Format.VOP3P || f == Format.VOP3 || f == Format.VOP3B || f == Format.SMEM || f == Format.DS || f == Format.MUBUF || f == Format.MTBUF || f == Format.MIMG || f == Format.EXP || f == Format.FLAT || f == Format.SCRATCH || f == Format.GLOBAL ? 2 : 1;
}

/** Whether a literal dword follows the base dwords; `hi` is ignored by one-dword formats. */
export function hasLiteral(op: u32, lo: u32, hi: u32): bool {
  const fields = opLiteralFields(op);
  if (fields == 0) return false;
  if ((fields & 8) != 0) return true;
  const f = opFormat(op);
  if (f == Format.VOP3 || f == Format.VOP3B || f == Format.VOP3P) {
    if ((fields & 1) != 0 && vop3Src0(hi) == 255) return true;
    if ((fields & 2) != 0 && vop3Src1(hi) == 255) return true;
    return (fields & 4) != 0 && vop3Src2(hi) == 255;
  }
  if (f == Format.VOP1 || f == Format.VOP2 || f == Format.VOPC) return vop1Src0(lo) == 255;
  if ((fields & 1) != 0 && sop2Src0(lo) == 255) return true;
  return (fields & 2) != 0 && sop2Src1(lo) == 255;
}

/** Whether a DPP16, DPP8 or SDWA dword follows. */
export function hasSecondDword(op: u32, lo: u32): bool {
  const f = opFormat(op);
  if (f != Format.VOP1 && f != Format.VOP2 && f != Format.VOPC) return false;
  const s = vop1Src0(lo);
  return s == 250 || s == 233 || s == 234 || s == 249;
}

/** Dwords of the whole instruction. */
export function instructionDwords(op: u32, lo: u32, hi: u32): u32 {
  if (opFormat(op) == Format.MIMG) return 2 + mimgNsa(lo);
  return baseDwords(op) + (hasLiteral(op, lo, hi) || hasSecondDword(op, lo) ? 1 : 0);
}

// Fields: `w` or `lo` is the first dword, `hi` the second.

export function sop1Sdst(w: u32): u32 {
  return (w >>> 16) & 0x7f;
}

export function sop1Src0(w: u32): u32 {
  return w & 0xff;
}

export function sopcSrc0(w: u32): u32 {
  return w & 0xff;
}

export function sopcSrc1(w: u32): u32 {
  return (w >>> 8) & 0xff;
}

export function soppSimm16(w: u32): u32 {
  return w & 0xffff;
}

export function sopkSdst(w: u32): u32 {
  return (w >>> 16) & 0x7f;
}

export function sopkSimm16(w: u32): u32 {
  return w & 0xffff;
}

export function sop2Sdst(w: u32): u32 {
  return (w >>> 16) & 0x7f;
}

export function sop2Src0(w: u32): u32 {
  return w & 0xff;
}

export function sop2Src1(w: u32): u32 {
  return (w >>> 8) & 0xff;
}

export function vop1Vdst(w: u32): u32 {
  return (w >>> 17) & 0xff;
}

export function vop1Src0(w: u32): u32 {
  return w & 0x1ff;
}

export function vopcSrc0(w: u32): u32 {
  return w & 0x1ff;
}

export function vopcSrc1(w: u32): u32 {
  return (w >>> 9) & 0xff;
}

export function vop3pVdst(lo: u32): u32 {
  return lo & 0xff;
}

export function vop3pSrc0(hi: u32): u32 {
  return hi & 0x1ff;
}

export function vop3pSrc1(hi: u32): u32 {
  return (hi >>> 9) & 0x1ff;
}

export function vop3pSrc2(hi: u32): u32 {
  return (hi >>> 18) & 0x1ff;
}

export function vop3pNeg(hi: u32): u32 {
  return hi >>> 29;
}

export function vop3pAbs(lo: u32): u32 {
  return (lo >>> 8) & 0x7;
}

export function vop3pClamp(lo: u32): u32 {
  return (lo >>> 15) & 0x1;
}

export function vop3pOpSel(lo: u32): u32 {
  return (lo >>> 11) & 0x7;
}

export function vop3pOpSelHi(hi: u32): u32 {
  return (hi >>> 27) & 0x3;
}

export function vop3pOpSelHi2(lo: u32): u32 {
  return (lo >>> 14) & 0x1;
}

export function vop3Vdst(lo: u32): u32 {
  return lo & 0xff;
}

export function vop3Src0(hi: u32): u32 {
  return hi & 0x1ff;
}

export function vop3Src1(hi: u32): u32 {
  return (hi >>> 9) & 0x1ff;
}

export function vop3Src2(hi: u32): u32 {
  return (hi >>> 18) & 0x1ff;
}

export function vop3Neg(hi: u32): u32 {
  return hi >>> 29;
}

export function vop3Abs(lo: u32): u32 {
  return (lo >>> 8) & 0x7;
}

export function vop3Clamp(lo: u32): u32 {
  return (lo >>> 15) & 0x1;
}

export function vop3Omod(hi: u32): u32 {
  return (hi >>> 27) & 0x3;
}

export function vop3OpSel(lo: u32): u32 {
  return (lo >>> 11) & 0xf;
}

export function vop3bVdst(lo: u32): u32 {
  return lo & 0xff;
}

export function vop3bSdst(lo: u32): u32 {
  return (lo >>> 8) & 0x7f;
}

export function vop3bSrc0(hi: u32): u32 {
  return hi & 0x1ff;
}

export function vop3bSrc1(hi: u32): u32 {
  return (hi >>> 9) & 0x1ff;
}

export function vop3bSrc2(hi: u32): u32 {
  return (hi >>> 18) & 0x1ff;
}

export function vop3bNeg(hi: u32): u32 {
  return hi >>> 29;
}

export function vop3bClamp(lo: u32): u32 {
  return (lo >>> 15) & 0x1;
}

export function vop3bOmod(hi: u32): u32 {
  return (hi >>> 27) & 0x3;
}

export function smemSdata(lo: u32): u32 {
  return (lo >>> 6) & 0x7f;
}

export function smemSbase(lo: u32): u32 {
  return lo & 0x3f;
}

export function smemOffset(hi: u32): i32 {
  return <i32>(hi << 11) >> 11;
}

export function smemSoffset(hi: u32): u32 {
  return hi >>> 25;
}

export function smemGlc(lo: u32): u32 {
  return (lo >>> 16) & 0x1;
}

export function smemDlc(lo: u32): u32 {
  return (lo >>> 14) & 0x1;
}

export function dsVdst(hi: u32): u32 {
  return hi >>> 24;
}

export function dsAddr(hi: u32): u32 {
  return hi & 0xff;
}

export function dsData0(hi: u32): u32 {
  return (hi >>> 8) & 0xff;
}

export function dsData1(hi: u32): u32 {
  return (hi >>> 16) & 0xff;
}

export function dsOffset0(lo: u32): u32 {
  return lo & 0xff;
}

export function dsOffset1(lo: u32): u32 {
  return (lo >>> 8) & 0xff;
}

export function dsGds(lo: u32): u32 {
  return (lo >>> 17) & 0x1;
}

export function mubufVdata(hi: u32): u32 {
  return (hi >>> 8) & 0xff;
}

export function mubufVaddr(hi: u32): u32 {
  return hi & 0xff;
}

export function mubufSrsrc(hi: u32): u32 {
  return (hi >>> 16) & 0x1f;
}

export function mubufSoffset(hi: u32): u32 {
  return hi >>> 24;
}

export function mubufOffset(lo: u32): u32 {
  return lo & 0xfff;
}

export function mubufOffen(lo: u32): u32 {
  return (lo >>> 12) & 0x1;
}

export function mubufIdxen(lo: u32): u32 {
  return (lo >>> 13) & 0x1;
}

export function mubufGlc(lo: u32): u32 {
  return (lo >>> 14) & 0x1;
}

export function mubufSlc(hi: u32): u32 {
  return (hi >>> 22) & 0x1;
}

export function mubufDlc(lo: u32): u32 {
  return (lo >>> 15) & 0x1;
}

export function mubufTfe(hi: u32): u32 {
  return (hi >>> 23) & 0x1;
}

export function mubufLds(lo: u32): u32 {
  return (lo >>> 16) & 0x1;
}

export function mtbufVdata(hi: u32): u32 {
  return (hi >>> 8) & 0xff;
}

export function mtbufVaddr(hi: u32): u32 {
  return hi & 0xff;
}

export function mtbufSrsrc(hi: u32): u32 {
  return (hi >>> 16) & 0x1f;
}

export function mtbufSoffset(hi: u32): u32 {
  return hi >>> 24;
}

export function mtbufOffset(lo: u32): u32 {
  return lo & 0xfff;
}

export function mtbufOffen(lo: u32): u32 {
  return (lo >>> 12) & 0x1;
}

export function mtbufIdxen(lo: u32): u32 {
  return (lo >>> 13) & 0x1;
}

export function mtbufFormat(lo: u32): u32 {
  return (lo >>> 19) & 0x7f;
}

export function mtbufGlc(lo: u32): u32 {
  return (lo >>> 14) & 0x1;
}

export function mtbufSlc(hi: u32): u32 {
  return (hi >>> 22) & 0x1;
}

export function mtbufDlc(lo: u32): u32 {
  return (lo >>> 15) & 0x1;
}

export function mtbufTfe(hi: u32): u32 {
  return (hi >>> 23) & 0x1;
}

export function mtbufD16(hi: u32): u32 {
  return (hi >>> 21) & 0x1;
}

export function mimgVdata(hi: u32): u32 {
  return (hi >>> 8) & 0xff;
}

export function mimgVaddr(hi: u32): u32 {
  return hi & 0xff;
}

export function mimgSrsrc(hi: u32): u32 {
  return (hi >>> 16) & 0x1f;
}

export function mimgSsamp(hi: u32): u32 {
  return (hi >>> 21) & 0x1f;
}

export function mimgDmask(lo: u32): u32 {
  return (lo >>> 8) & 0xf;
}

export function mimgDim(lo: u32): u32 {
  return (lo >>> 3) & 0x7;
}

export function mimgUnorm(lo: u32): u32 {
  return (lo >>> 12) & 0x1;
}

export function mimgGlc(lo: u32): u32 {
  return (lo >>> 13) & 0x1;
}

export function mimgSlc(lo: u32): u32 {
  return (lo >>> 25) & 0x1;
}

export function mimgDlc(lo: u32): u32 {
  return (lo >>> 7) & 0x1;
}

export function mimgNsa(lo: u32): u32 {
  return (lo >>> 1) & 0x3;
}

export function mimgR128(lo: u32): u32 {
  return (lo >>> 15) & 0x1;
}

export function mimgTfe(lo: u32): u32 {
  return (lo >>> 16) & 0x1;
}

export function mimgLwe(lo: u32): u32 {
  return (lo >>> 17) & 0x1;
}

export function mimgA16(hi: u32): u32 {
  return (hi >>> 30) & 0x1;
}

export function mimgD16(hi: u32): u32 {
  return hi >>> 31;
}

export function mimgOpHigh(lo: u32): u32 {
  return lo & 0x1;
}

export function expTarget(lo: u32): u32 {
  return (lo >>> 4) & 0x3f;
}

export function expSrc0(hi: u32): u32 {
  return hi & 0xff;
}

export function expSrc1(hi: u32): u32 {
  return (hi >>> 8) & 0xff;
}

export function expSrc2(hi: u32): u32 {
  return (hi >>> 16) & 0xff;
}

export function expSrc3(hi: u32): u32 {
  return hi >>> 24;
}

export function expEn(lo: u32): u32 {
  return lo & 0xf;
}

export function expCompr(lo: u32): u32 {
  return (lo >>> 10) & 0x1;
}

export function expDone(lo: u32): u32 {
  return (lo >>> 11) & 0x1;
}

export function expVm(lo: u32): u32 {
  return (lo >>> 12) & 0x1;
}

export function vintrpVdst(w: u32): u32 {
  return (w >>> 18) & 0xff;
}

export function vintrpVsrc(w: u32): u32 {
  return w & 0xff;
}

export function vintrpAttr(w: u32): u32 {
  return (w >>> 10) & 0x3f;
}

export function vintrpAttrchan(w: u32): u32 {
  return (w >>> 8) & 0x3;
}

export function flatVdst(hi: u32): u32 {
  return hi >>> 24;
}

export function flatAddr(hi: u32): u32 {
  return hi & 0xff;
}

export function flatData(hi: u32): u32 {
  return (hi >>> 8) & 0xff;
}

export function flatSaddr(hi: u32): u32 {
  return (hi >>> 16) & 0x7f;
}

export function flatOffset(lo: u32): i32 {
  return <i32>(lo << 20) >> 20;
}

export function flatSeg(lo: u32): u32 {
  return (lo >>> 14) & 0x3;
}

export function flatGlc(lo: u32): u32 {
  return (lo >>> 16) & 0x1;
}

export function flatSlc(lo: u32): u32 {
  return (lo >>> 17) & 0x1;
}

export function flatDlc(lo: u32): u32 {
  return (lo >>> 12) & 0x1;
}

export function flatLds(lo: u32): u32 {
  return (lo >>> 13) & 0x1;
}

export function vop2Vdst(w: u32): u32 {
  return (w >>> 17) & 0xff;
}

export function vop2Src0(w: u32): u32 {
  return w & 0x1ff;
}

export function vop2Src1(w: u32): u32 {
  return (w >>> 9) & 0xff;
}

export function dpp16Src0(w: u32): u32 {
  return w & 0xff;
}

export function dpp16DppCtrl(w: u32): u32 {
  return (w >>> 8) & 0x1ff;
}

export function dpp16Fi(w: u32): u32 {
  return (w >>> 18) & 0x1;
}

export function dpp16BoundCtrl(w: u32): u32 {
  return (w >>> 19) & 0x1;
}

export function dpp16Src0Neg(w: u32): u32 {
  return (w >>> 20) & 0x1;
}

export function dpp16Src0Abs(w: u32): u32 {
  return (w >>> 21) & 0x1;
}

export function dpp16Src1Neg(w: u32): u32 {
  return (w >>> 22) & 0x1;
}

export function dpp16Src1Abs(w: u32): u32 {
  return (w >>> 23) & 0x1;
}

export function dpp16BankMask(w: u32): u32 {
  return (w >>> 24) & 0xf;
}

export function dpp16RowMask(w: u32): u32 {
  return w >>> 28;
}

export function dpp8Src0(w: u32): u32 {
  return w & 0xff;
}

export function dpp8Selectors(w: u32): u32 {
  return w >>> 8;
}

export function sdwaSrc0(w: u32): u32 {
  return w & 0xff;
}

export function sdwaDstSel(w: u32): u32 {
  return (w >>> 8) & 0x7;
}

export function sdwaDstUnused(w: u32): u32 {
  return (w >>> 11) & 0x3;
}

export function sdwaClamp(w: u32): u32 {
  return (w >>> 13) & 0x1;
}

export function sdwaOmod(w: u32): u32 {
  return (w >>> 14) & 0x3;
}

export function sdwaSrc0Sel(w: u32): u32 {
  return (w >>> 16) & 0x7;
}

export function sdwaSrc0Sext(w: u32): u32 {
  return (w >>> 19) & 0x1;
}

export function sdwaSrc0Neg(w: u32): u32 {
  return (w >>> 20) & 0x1;
}

export function sdwaSrc0Abs(w: u32): u32 {
  return (w >>> 21) & 0x1;
}

export function sdwaSrc0Scalar(w: u32): u32 {
  return (w >>> 23) & 0x1;
}

export function sdwaSrc1Sel(w: u32): u32 {
  return (w >>> 24) & 0x7;
}

export function sdwaSrc1Sext(w: u32): u32 {
  return (w >>> 27) & 0x1;
}

export function sdwaSrc1Neg(w: u32): u32 {
  return (w >>> 28) & 0x1;
}

export function sdwaSrc1Abs(w: u32): u32 {
  return (w >>> 29) & 0x1;
}

export function sdwaSrc1Scalar(w: u32): u32 {
  return w >>> 31;
}
