/* SPDX-License-Identifier: Apache-2.0 */
/* cudnn.h - the rows of cudnn.c: what cuDNN 9.19.0 takes; written by tests/oracle/cudnn.py. */
/* clang-format off */
{.sm = 75, .half = false, .last = false, .median = 100, .most = 100,
 .workspace = {
     "p<=4096?d<=17280?d<=9216?d<=3?W:m<=4?k<=58?v<=4?Y:0:0:0:Y+W:W:W",
     "d<=17280?d<=9216?p<=4096?o<=6144?X:d<=3?W:0:c<=16?0:k<=24?0:W:Y+W:W",
     "o<=84295680?0:c<=3?p<=36100?0:W:0"}},
{.sm = 80, .half = false, .last = false, .median = 6, .most = 22,
 .workspace = {
     "d<=61?0:c<=56?g<=54?X+Y+W:0:v<=2?X+Y+W:k<=28?d<=256?0:X+W:k<=672?X+W:o<=780337152?X+W:p<=49?X+W:X+Y+W",
     "c<=3?f<=25?d<=18?v<=4?X+Y+W+Q:0:0:m<=24200?0:X+Y:d<=14?k<=48?0:X+Y+W:o<=7102464?k<=56?0:X+Y+W:X+Y+W",
     "d<=30?c<=10?m<=100352?X+Y:0:X+Y:f<=1?m<=2048?X+Y:o<=568197120?X+Y+8W:X+Y+2W:m<=4624?X+Y+W:c<=128?X+Y+8W:"
     "o<=9569304576?X+Y+W+D:X+Y+W+Q"}},
{.sm = 80, .half = false, .last = true, .median = 2, .most = 32,
 .workspace = {
     "k<=6?0:v<=2?d<=32?v<=1?0:X+W:c<=8?X+W:X+Y+W:d<=147?o<=60211200?k<=8?X:0:c<=40?X:X+W:X+W",
     "k<=6?0:u<=2?o<=25165824?o<=5080320?Y+W:W:o<=445644800?o<=78408000?Y+W:X+Y+W:X+Y:o<=401408?Y:f<=1?Y+W:f<=7?X:Y+W",
     "c<=3?d<=27?W:X+Y+W+Q:p<=196?u<=4?0:p<=64?d<=192?0:c<=1024?X+Y:0:k<=256?d<=1152?X+Y+8W:X+Y+W+D:X+Y+W:X+Y+W+S"}},
{.sm = 80, .half = true, .last = false, .median = 2, .most = 23,
 .workspace = {
     "d<=50?c<=40?k<=300?0:X+Y:X+Y+W:f<=1?v<=4?X+Y+W:p<=1?u<=4?W:0:u<=4?X+Y+W:X+Y:d<=72?X+Y+8W:X+Y+W",
     "s<=2?f<=1?u<=4?X+Y+W:o<=3198720?0:X+Y:g<=72?o<=42653952?k<=24?p<=784?W:X+W:X+Y+W:X+Y+W:0:f<=49?0:X+Y+W",
     "m<=6272?f<=1?o<=18063360?X:X+Y:k<=1?0:m<=4096?X+Y+W:o<=4602396672?X+Y+4W:X+Y+W:g<=72?m<=96800?f<=16?X+Y+W+S:"
     "X+Y+16W:X+Y+W+D:X"}},
{.sm = 80, .half = true, .last = true, .median = 78, .most = 201,
 .workspace = {
     "f<=25?v<=4?k<=12?0:u<=4?o<=9216000?X+W:X+Y+W:o<=75271680?d<=8?0:Y+W:Y+W:d<=3?X+W:0:o<=472055808?0:X+W",
     "u<=4?c<=1?0:v<=4?m<=196?0:X+Y+W:o<=3702600?d<=3?W:X+W:m<=3025?X+Y:X+W:v<=4?o<=110976?0:Y+W:0",
     "v<=4?k<=20?f<=25?0:X+Y:u<=4?X+Y+2W:Y+W:u<=4?X+W:m<=8192?k<=240?m<=4096?0:Y:0:d<=2880?W:0"}},
{.sm = 86, .half = false, .last = false, .median = 33, .most = 89,
 .workspace = {
     "d<=512?k<=288?0:o<=411041792?0:X+W:u<=2?0:v<=2?X+Y+W:k<=112?o<=14797504512?c<=96?X+W:W:X+W:d<=3200?X+W:X+Y+W",
     "d<=512?k<=972?m<=1024?p<=64?W:X+Y+W:0:X+Y+W:o<=361267200?p<=289?0:X+Y+W:o<=694237500?c<=512?f<=9?X+Y+W:0:0:X+Y+W",
     "d<=256?m<=9800?d<=96?k<=180?X+Y+4W:0:X+Y:k<=576?o<=12545280?X+Y:o<=20141047808?p<=784?X+W:0:X+Y+4W:X+Y+2W:f<=1?"
     "X+Y:X+Y+W"}},
{.sm = 86, .half = false, .last = true, .median = 31, .most = 78,
 .workspace = {
     "d<=256?k<=184?0:p<=2304?d<=80?d<=32?X:0:k<=512?Y+W:X+W:0:v<=2?X+Y+W:u<=4?0:o<=154140672?W:X+W",
     "k<=6?0:u<=2?d<=363?k<=96?d<=17?X+Y+W:X+Y:X+Y+W:X+Y+W:o<=401408?0:Y+W",
     "d<=256?k<=672?0:X+Y:u<=1?0:k<=56?d<=1152?p<=784?X+Y+4W:0:X+Y+4W:o<=77007421440?d<=464?X+Y+W:d<=544?Y+W:X+Y:X+Y+W"}},
{.sm = 86, .half = true, .last = false, .median = 5, .most = 70,
 .workspace = {
     "d<=49?m<=1089?X+Y:0:c<=3?0:f<=1?k<=56?o<=57802752?c<=144?X+Y:W:0:p<=5329?X+Y:Y:d<=72?0:X+Y+W",
     "g<=32?f<=1?v<=1?c<=32?W:X+Y+W:X+Y:k<=24?o<=170615808?m<=100352?X+W:X+Y:X+W:f<=25?X+Y+W:Y+W:g<=384?0:X+Y",
     "g<=32?f<=1?m<=9800?X+Y:X+Y+4W:d<=27?k<=48?m<=25088?X+Y+W+D:X+Y+W+Q:X+Y+16W:f<=25?m<=36992?X+Y+W:X+Y+4W:X+Y+16W:"
     "g<=384?0:X+Y"}},
{.sm = 86, .half = true, .last = true, .median = 69, .most = 100,
 .workspace = {
     "p<=1?c<=1024?u<=4?o<=110976?0:X+W:v<=4?o<=18432?X+Y+8W:Y+W:0:X+Y:k<=80?0:v<=4?c<=3?0:Y+W:0",
     "f<=9?u<=4?c<=1?0:v<=4?X+Y+W:X+W:v<=4?Y+W:0:k<=1?0:p<=3136?v<=2?Y+W:X:u<=4?X+Y:Y+W",
     "f<=25?m<=9800?0:f<=9?d<=8?v<=2?X+Y+4W:X+W:m<=12544?X:W:k<=64?W:m<=32768?X:Y+W:c<=1?X+Y+8W:X+W"}},
{.sm = 89, .half = false, .last = false, .median = 14, .most = 50,
 .workspace = {
     "d<=384?k<=720?0:X+W:m<=18432?k<=1536?m<=2916?X+Y+W:X+W:X:o<=12947816448?c<=448?k<=56?W:X+W:0:v<=1?X+Y+W:X+W",
     "m<=22201?c<=17?m<=6400?X+W:0:k<=42?d<=224?0:X+Y:p<=3136?X+Y+W:X+W:d<=672?0:p<=12544?c<=32?W:X+Y+W:W",
     "m<=25088?k<=640?c<=128?m<=1600?X+Y+W:X+Y+8W:X+Y+W:d<=128?o<=346816512?X+Y+W:0:f<=1?X+Y:X+Y+W:d<=256?0:f<=1?0:"
     "X+Y+W+S"}},
{.sm = 89, .half = false, .last = true, .median = 13, .most = 43,
 .workspace = {
     "d<=480?k<=672?k<=480?o<=3342336000?0:X:Y+W:X+W:v<=4?o<=1439424000?Y+W:X+Y+W:o<=679477248?o<=321126400?c<=576?"
     "X+W:X+Y+W:X+Y+8W:X+W",
     "k<=1?0:d<=256?o<=337584128?u<=2?d<=14?0:X+Y+W:k<=8?X+Y:Y+W:k<=320?v<=1?Y+W:X+Y:Y+W:c<=17?X+Y:Y+W",
     "d<=384?k<=768?p<=49?Y:0:X+Y:o<=696960000?d<=672?0:o<=115605504?0:X+Y+16W:k<=192?k<=128?o<=3538944000?X+Y+W+D:"
     "X+Y+8W:X+Y+16W:X+Y"}},
{.sm = 89, .half = true, .last = false, .median = 9, .most = 72,
 .workspace = {
     "d<=256?k<=320?m<=9800?c<=48?0:X+Y:p<=196?X+Y:0:s<=1?X+Y:W:f<=1?m<=131072?X+Y:0:u<=1?Y:X+Y+W",
     "k<=6?0:f<=1?X+Y:v<=1?c<=32?m<=8712?X+Y+W:0:X+Y+W:o<=52224000?o<=11289600?W:X+W:k<=24?c<=3?X+W:X+Y+W:X+Y+W",
     "m<=8192?f<=1?m<=3200?k<=120?0:X+Y:c<=480?X+Y+W+S:X+Y:d<=49?0:X+Y+W:d<=544?g<=16?X+Y+W+S:X+Y:c<=192?X+Y+W+D:"
     "X+Y+2W"}},
{.sm = 89, .half = true, .last = true, .median = 67, .most = 100,
 .workspace = {
     "f<=25?c<=2048?o<=1728?0:o<=4608?0:o<=12544?X:0:Y:c<=1?0:X+W",
     "s<=1?v<=4?k<=20?0:u<=4?X+Y+W:Y+W:u<=4?X+W:0:p<=9025?f<=9?0:p<=784?0:X+W:k<=32?X+W:X+Y",
     "f<=25?f<=9?m<=8192?k<=128?o<=719323136?p<=3136?0:X:Y+W:0:d<=8?Y+W:W:c<=1?0:Y:m<=96800?X+Y:X+W"}},
{.sm = 90, .half = false, .last = false, .median = 6, .most = 20,
 .workspace = {
     "d<=256?k<=96?f<=16?g<=1?p<=1225?X:0:X+Y+W:X+Y:m<=4096?c<=100?0:X+Y:X+W:f<=1?X+Y:s<=2?X+Y+W:0",
     "c<=25?g<=1?v<=1?X+Y+W:m<=1600?X+W:0:X+Y+W:f<=3?k<=25?c<=72?0:X+Y:c<=58?k<=144?0:X+Y:X+Y:X+Y+W",
     "c<=3?m<=48400?X+Y+2W:f<=25?0:X+Y+W+S:f<=1?m<=682112?p<=1089?X+Y:X+Y+16W:c<=24?0:X+Y+W+S:k<=128?X+Y+4W:m<=169?0:"
     "X+Y+W"}},
{.sm = 90, .half = false, .last = true, .median = 57, .most = 99,
 .workspace = {
     "c<=128?d<=896?s<=1?o<=472055808?0:f<=9?0:Y+W:o<=205520896?0:W:v<=2?Y+W:o<=3699376128?W:0:v<=2?Y+W:0",
     "s<=1?d<=3?X+Y+W:d<=8?Y:v<=2?k<=14?0:Y+W:c<=17?u<=4?X+W:X+Y:k<=24?Y:0:p<=2304?0:Y+W",
     "f<=16?k<=255?k<=240?p<=64?0:W:f<=1?Y+W:X+Y+W:0:d<=75?d<=25?W:X:p<=729?X:c<=17?X+Y+W+D:X+Y+W"}},
{.sm = 90, .half = true, .last = false, .median = 4, .most = 40,
 .workspace = {
     "c<=14?d<=72?d<=25?g<=1?0:o<=22579200?W:X+Y:0:X+Y+W:f<=1?k<=21?o<=102760448?W:X+Y:X+Y:d<=153?X:X+Y+W",
     "f<=1?p<=25?0:X+Y:g<=32?f<=9?X+Y+W:o<=2506752000?p<=3136?o<=14450688?W:c<=3?X+W:X+Y+W:X+Y+W:X+Y+W:g<=384?0:X+Y",
     "f<=1?X+Y:d<=48?o<=153453312?m<=6272?o<=13547520?0:X+Y+16W:X+Y+W+S:k<=64?X+Y+W+D:X+Y+W+Q:d<=72?k<=8?0:X+Y+16W:"
     "f<=25?X+Y+W:X+Y+W+D"}},
{.sm = 90, .half = true, .last = true, .median = 100, .most = 100,
 .workspace = {
     "v<=4?c<=3?f<=1?m<=32768?0:X+Y+W:0:u<=4?X+Y+W:Y+W:f<=25?u<=4?s<=1?d<=20?0:X+W:0:0:X+W",
     "u<=4?g<=1?v<=4?X+Y+W:f<=1?X+W:f<=9?X+W:m<=12544?o<=42649600?X+W:X+Y:X+W:0:v<=4?o<=18432?W:Y+W:0",
     "v<=4?k<=20?f<=25?0:X+Y:u<=4?m<=32768?X+Y+W:o<=2272788480?X+Y+W+D:X+Y+2W:Y+W:u<=4?m<=24200?c<=3?X+Y+16W:X+W:X+W:0"}},
{.sm = 100, .half = false, .last = false, .median = 5, .most = 35,
 .workspace = {
     "k<=96?d<=336?o<=3492413440?g<=1?m<=6272?d<=100?0:X+Y:0:X+Y+W:o<=4831838208?Y+W:X+Y+W:X+Y+W:f<=1?X+Y:c<=8?0:X+Y+W",
     "c<=3?o<=1849688064?k<=8?X+Y+W+Q:0:X+Y:f<=1?X+Y:d<=72?X+Y+8W:f<=9?g<=6?g<=2?X+Y+W:0:X+Y+2W:m<=23328?0:X+Y+W",
     "c<=3?f<=25?o<=43352064?X+Y+W+D:0:X+Y+W:f<=1?o<=12845056?m<=3136?0:X+Y+W+Q:c<=140?X+Y+8W:k<=128?X+Y+4W:X+Y:"
     "m<=8192?X+Y+W:X+Y+W+S"}},
{.sm = 100, .half = true, .last = false, .median = 3, .most = 6,
 .workspace = {
     "d<=48?d<=20?W:0:f<=1?p<=1?0:v<=4?X+Y+W:c<=72?Y+W:X+Y:o<=209715200?c<=8?0:X+Y+W:o<=120795955200?X+Y+W:X+Y+2W",
     "c<=3?o<=462422016?p<=1089?X+Y+W:X+W:Y:f<=1?p<=1?c<=144?W:0:v<=4?X+Y+W:X+Y:o<=77007421440?X+Y+W:d<=4608?X+Y+W:"
     "X+Y+W+D",
     "p<=289?f<=1?k<=200?p<=64?X+Y:o<=590872576?X+Y+16W:X+Y+W+D:X+Y:X+Y+W:d<=36?X+Y+W+D:d<=64?X+Y+16W:c<=48?X+Y+W+D:"
     "o<=9059696640?X+Y+W+S:X+Y+W+D"}},
{.sm = 100, .half = true, .last = true, .median = 86, .most = 98,
 .workspace = {
     "s<=1?0:p<=2304?0:W",
     "s<=1?p<=1?k<=288?k<=28?W:0:Y:o<=154618822656?f<=1?v<=4?Y+W:0:0:W:c<=3?g<=48?Y+W:0:0",
     "u<=4?g<=32?v<=4?p<=196?X+Y+W:X+Y+W+S:X+W:0:v<=4?Y+W:p<=289?k<=240?d<=928?Y+W:0:0:d<=2304?W:0"}},
{.sm = 120, .half = false, .last = false, .median = 10, .most = 46,
 .workspace = {
     "d<=216?f<=16?m<=196?X+Y:0:Y+W:f<=9?f<=1?o<=130056192?X+Y+W:X+W:o<=30198988800?g<=9?X+Y+W:Y+W:m<=16384?X+Y+W:X+W:"
     "W",
     "d<=151?k<=366?v<=4?c<=38?0:m<=3136?W:X+Y+W:g<=1?p<=256?X+Y+W:0:X:X+Y+W:u<=1?0:g<=9?X+Y+W:Y",
     "k<=53?o<=37748736?p<=784?0:X+Y+W+S:d<=288?0:X+Y+W:f<=3?m<=1024?X+Y:X+Y+4W:f<=25?k<=128?X+Y+8W:m<=4096?X+Y+W:"
     "X+Y+W+S:X"}},
