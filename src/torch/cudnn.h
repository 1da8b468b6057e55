/* SPDX-License-Identifier: Apache-2.0 */
/* cudnn.h - the rows of cudnn.c: what cuDNN 9.19.0 takes; written by tests/oracle/workspaces.py. */
/* clang-format off */
{.sm = 75, .half = false, .last = false, .median = 100, .most = 100,
 .workspace = {
     "p<=4096?d<=17280?d<=9216?d<=3?W:m<=4?k<=58?v<=4?Y:0:0:0:Y+W:W:W",
     "d<=17280?d<=9216?p<=4096?o<=6144?X:d<=3?W:0:c<=16?0:k<=24?0:W:Y+W:W",
     "o<=84295680?0:c<=3?p<=36100?0:W:0"}},
{.sm = 75, .half = false, .last = true, .median = 52, .most = 98,
 .workspace = {
     "d<=2144?p<=50176?p<=36100?p<=4096?0:W:X+W:X+Y+4W:p<=144?k<=224?W:0:s<=1?p<=3136?X+Y+4W:o<=60397977600?0:"
     "X+Y+4W:0",
     "s<=1?d<=2048?p<=36100?m<=676?k<=192?0:X+Y:0:X+Y+4W:p<=144?c<=1024?o<=471859200?X+Y+4W:X+Y+W:0:X+Y+4W:"
     "g<=16?X+Y+W:0",
     "f<=1?0:f<=3?0:f<=4?0:s<=1?g<=1?0:g<=9?X+Y:o<=154140672?g<=64?W:0:c<=8?W:X:0"}},
{.sm = 75, .half = true, .last = false, .median = 8, .most = 35,
 .workspace = {
     "d<=144?d<=128?d<=9?s<=1?X+Y:0:0:X+Y+W:s<=2?f<=1?p<=289?X+Y:s<=1?o<=192675840?X+Y:0:X+Y:X+Y+W:0",
     "g<=72?f<=1?c<=32?s<=1?W:X+Y+8W:o<=34359738368?X+Y:0:f<=9?X+Y+W:f<=16?X+W:p<=1024?W:X+Y+2W:g<=906?0:X+Y",
     "g<=72?f<=1?m<=2304?X+Y:k<=232?X+Y+16W:X+Y+2W:m<=4096?X+Y+W:u<=1?X+Y+4W:X+Y+W+S:f<=25?o<=29465856?s<=1?"
     "X+Y+W:0:X+Y+2W:0"}},
{.sm = 75, .half = true, .last = true, .median = 82, .most = 98,
 .workspace = {
     "f<=81?p<=50176?m<=4?v<=2?X+W:d<=256?0:c<=672?X+Y:X:s<=1?0:d<=3456?p<=9025?0:W:Y:W:W",
     "f<=25?d<=8?X:m<=16?d<=240?k<=576?Y:c<=64?X+Y+W:W:v<=4?Y+W:0:0:g<=1?p<=3136?X:Y+W:0",
     "s<=2?m<=4096?f<=25?k<=300?k<=16?W:m<=2304?0:Y:d<=224?X:0:o<=25214976?p<=64?X+Y+4W:X+Y+16W:X+Y+W+S:W:X+W"}},
{.sm = 80, .half = false, .last = false, .median = 6, .most = 22,
 .workspace = {
     "d<=61?0:c<=56?g<=54?X+Y+W:0:v<=2?X+Y+W:k<=28?d<=256?0:X+W:k<=672?X+W:o<=780337152?X+W:p<=49?X+W:X+Y+W",
     "c<=3?f<=25?d<=18?v<=4?X+Y+W+Q:0:0:m<=24200?0:X+Y:d<=14?k<=48?0:X+Y+W:o<=7102464?k<=56?0:X+Y+W:X+Y+W",
     "d<=30?c<=10?m<=100352?X+Y:0:X+Y:f<=1?m<=2048?X+Y:o<=568197120?X+Y+8W:X+Y+2W:m<=4624?X+Y+W:c<=128?X+Y+8W:"
     "o<=9569304576?X+Y+W+D:X+Y+W+Q"}},
{.sm = 80, .half = false, .last = true, .median = 6, .most = 26,
 .workspace = {
     "c<=1?0:g<=1?m<=196?X+Y+W:o<=26214400?p<=256?X+W:0:v<=2?d<=32?X:X+Y+W:X+W:k<=16?s<=1?Y+W:X+W:X+Y+W",
     "k<=1?0:u<=2?d<=425?s<=2?X+Y+W:X+Y:c<=570?X+W:X+Y+W:g<=1?Y+W:k<=32?c<=8?X+Y+8W:Y+W:k<=48?X+Y+4W:X+Y+W",
     "d<=27?c<=10?W:X+Y:m<=6400?m<=2916?k<=14?0:X+Y:g<=96?o<=745013248?X+Y+8W:X+Y+W:X+Y+W+Q:g<=48?k<=256?X+Y+8W:"
     "X+Y+2W:X+Y+W+Q"}},
{.sm = 80, .half = true, .last = false, .median = 3, .most = 28,
 .workspace = {
     "d<=50?c<=40?k<=300?0:X+Y:X+Y+W:f<=1?u<=4?X+Y+W:p<=1?v<=4?Y+W:0:X+Y:c<=1?0:d<=72?X+Y+8W:X+Y+W",
     "f<=9?f<=1?X+Y:g<=72?o<=8128512?g<=16?X+Y+4W:0:X+Y+W:g<=570?0:X+Y:d<=121?g<=768?0:X+Y:s<=4?X+Y+W:W",
     "g<=72?m<=6272?f<=1?X+Y:m<=4096?X+Y+W:X+Y+4W:m<=96800?f<=16?X+Y+W+S:p<=400?X+Y+W+D:X+Y+16W:X+Y+W+D:f<=25?"
     "o<=28224000?0:X+Y+4W:0"}},
{.sm = 80, .half = true, .last = true, .median = 98, .most = 100,
 .workspace = {
     "f<=25?d<=3?v<=2?m<=8712?0:X+Y+W:k<=8?X:0:0:k<=16?0:o<=462422016?W:m<=100352?X+W:o<=4497715200?X:X+W",
     "f<=25?s<=2?d<=3?v<=1?X+Y+W:k<=30?0:X+W:d<=6?X+W:0:X+W:d<=121?0:m<=65536?m<=24200?X+W:X+Y:X+W",
     "f<=25?s<=2?m<=8712?0:d<=3456?d<=8?Y:W:k<=255?Y+W:0:X+W:d<=121?m<=3136?m<=784?0:X+Y+W+S:X+Y+W+Q:X+W"}},
{.sm = 86, .half = false, .last = false, .median = 33, .most = 89,
 .workspace = {
     "d<=512?k<=288?0:o<=411041792?0:X+W:u<=2?0:v<=2?X+Y+W:k<=112?o<=14797504512?c<=96?X+W:W:X+W:d<=3200?X+W:"
     "X+Y+W",
     "d<=512?k<=972?m<=1024?p<=64?W:X+Y+W:0:X+Y+W:o<=361267200?p<=289?0:X+Y+W:o<=694237500?c<=512?f<=9?X+Y+W:0:"
     "0:X+Y+W",
     "d<=256?m<=9800?d<=96?k<=180?X+Y+4W:0:X+Y:k<=576?o<=12545280?X+Y:o<=20141047808?p<=784?X+W:0:X+Y+4W:X+Y+2W:"
     "f<=1?X+Y:X+Y+W"}},
{.sm = 86, .half = false, .last = true, .median = 19, .most = 47,
 .workspace = {
     "d<=256?k<=256?p<=36100?v<=4?0:m<=36864?X+W:0:X:m<=784?0:X+W:g<=1?v<=2?X+Y+W:u<=1?X:X+W:X+Y+W",
     "k<=8?g<=1?c<=17?X+Y+W:Y+W:0:u<=2?d<=425?c<=6?X+Y:X+Y+W:X+W:g<=1?Y+W:g<=9?X+Y+W:g<=21?Y+W:W",
     "d<=256?k<=570?o<=8128512?0:W:d<=128?m<=3136?X+Y:0:X+Y:k<=32?m<=34848?X+Y+W:0:u<=1?X:o<=54591488?0:X+Y"}},
{.sm = 86, .half = true, .last = false, .median = 8, .most = 44,
 .workspace = {
     "d<=50?c<=47?0:k<=144?W:X+Y:f<=1?k<=58?k<=56?W:X+Y+W:p<=5329?v<=4?X+Y+W:X+Y:W:c<=3?0:X+Y+W",
     "g<=72?f<=1?v<=1?c<=32?W:X+Y+W:X+Y:f<=49?o<=28200960?k<=24?0:X+Y+W:X+Y+W:X:f<=25?s<=1?X+Y:0:0",
     "g<=72?f<=1?m<=9800?X+Y:c<=200?X+Y+16W:X+Y+2W:m<=46656?k<=1?0:X+Y+W:X+Y+4W:f<=25?s<=1?X+Y+W:o<=110592000?0:"
     "X+Y:0"}},
{.sm = 86, .half = true, .last = true, .median = 61, .most = 100,
 .workspace = {
     "d<=3?v<=2?0:k<=8?0:X+W:f<=81?v<=1?c<=3?0:u<=4?X+Y+W:Y+W:v<=4?u<=4?X+Y+W:Y+W:0:W",
     "f<=11?d<=8?v<=2?X+Y+W:X+W:0:p<=1024?f<=49?0:X:s<=2?k<=8?0:s<=1?v<=2?Y+W:X:X+Y:X",
     "f<=11?m<=18432?0:u<=4?c<=1?0:v<=4?X+Y+8W:X+W:v<=4?Y+W:W:v<=2?m<=3136?X+Y+8W:X+Y+W+D:u<=4?X+W:0"}},
{.sm = 89, .half = false, .last = false, .median = 13, .most = 50,
 .workspace = {
     "d<=384?k<=720?0:X+W:m<=18432?k<=1536?m<=2916?X+Y+W:X+W:X:o<=12947816448?c<=448?k<=56?W:X+W:0:v<=1?X+Y+W:"
     "X+W",
     "m<=22201?c<=17?m<=6400?X+W:0:k<=42?d<=224?0:X+Y:p<=3136?X+Y+W:X+W:d<=672?0:p<=12544?c<=32?W:X+Y+W:W",
     "m<=25088?k<=640?c<=128?m<=1600?X+Y+W:X+Y+8W:X+Y+W:d<=128?o<=346816512?X+Y+W:0:f<=1?X+Y:X+Y+W:d<=256?0:"
     "f<=1?0:X+Y+W+S"}},
{.sm = 89, .half = false, .last = true, .median = 24, .most = 77,
 .workspace = {
     "d<=256?s<=2?k<=570?0:c<=184?0:X+W:X:g<=1?v<=2?X+Y+W:d<=384?c<=272?X+W:m<=4900?X+W:0:X+W:X+Y+W",
     "k<=8?0:u<=2?X+Y:m<=100352?g<=2?Y+W:g<=9?X+Y+4W:X:f<=1?c<=32?Y+W:k<=256?X+Y:Y+W:s<=1?Y+W:X+Y+W",
     "d<=384?m<=4900?k<=6?0:k<=232?X+Y+8W:X+Y+W:0:p<=576?k<=112?Y:X+Y:k<=192?c<=100?X+Y+W+S:X+Y+8W:k<=896?X+Y:W"}},
{.sm = 89, .half = true, .last = false, .median = 10, .most = 44,
 .workspace = {
     "d<=256?k<=256?c<=3?0:W:m<=147456?s<=1?X+Y:o<=1040449536?X+Y:0:0:f<=25?f<=1?m<=147456?X+Y:0:X+Y+W:0",
     "k<=4?g<=906?0:X+Y:f<=1?X+Y:s<=4?o<=65028096?m<=12544?m<=6272?X+Y+W:0:X+W:v<=1?c<=32?0:X+Y+W:X+Y+W:W",
     "g<=120?f<=1?m<=4624?X+Y:c<=504?X+Y+W+S:X+Y:m<=16384?c<=1?0:m<=6272?X+Y+W:m<=9800?X+Y+W+Q:X+Y+2W:u<=4?"
     "X+Y+16W:X+Y+W+D:0"}},
{.sm = 89, .half = true, .last = true, .median = 91, .most = 100,
 .workspace = {
     "d<=18432?s<=1?g<=1?v<=4?u<=4?c<=12?0:X+Y+W:Y+W:0:0:m<=710432?p<=16384?0:W:k<=48?0:X+W:X",
     "s<=2?s<=1?d<=3?v<=2?X+Y+W:0:0:p<=9025?0:k<=24?X+W:k<=32?Y+W:o<=154140672?Y+W:X+Y:k<=64?X:X+W",
     "s<=2?m<=16384?p<=9025?0:X:k<=672?d<=3?v<=2?X+Y+W+S:X+W:s<=1?W:0:o<=38654705664?0:W:f<=49?X+W:X+Y+W+S"}},
{.sm = 90, .half = false, .last = false, .median = 6, .most = 20,
 .workspace = {
     "d<=256?k<=96?f<=16?g<=1?p<=1225?X:0:X+Y+W:X+Y:m<=4096?c<=100?0:X+Y:X+W:f<=1?X+Y:s<=2?X+Y+W:0",
     "c<=25?g<=1?v<=1?X+Y+W:m<=1600?X+W:0:X+Y+W:f<=3?k<=25?c<=72?0:X+Y:c<=58?k<=144?0:X+Y:X+Y:X+Y+W",
     "c<=3?m<=48400?X+Y+2W:f<=25?0:X+Y+W+S:f<=1?m<=682112?p<=1089?X+Y:X+Y+16W:c<=24?0:X+Y+W+S:k<=128?X+Y+4W:"
     "m<=169?0:X+Y+W"}},
{.sm = 90, .half = false, .last = true, .median = 85, .most = 100,
 .workspace = {
     "s<=2?d<=3?W:0:X",
     "s<=2?d<=8?v<=2?Y+W:k<=48?X+Y:X:o<=26191872?0:s<=1?0:p<=9025?g<=1?0:k<=16?0:X+Y+2W:X+Y:X+Y",
     "s<=2?k<=64?d<=2304?m<=784?o<=28901376?Y:X+Y+2W:W:X+Y+8W:u<=4?k<=228?W:X+Y:v<=1?X+Y+W:g<=1?0:X+Y:X+Y+2W"}},
{.sm = 90, .half = true, .last = false, .median = 4, .most = 43,
 .workspace = {
     "c<=3?d<=25?o<=18874368?0:X+Y:d<=49?0:p<=400?0:X+Y:f<=1?k<=24?c<=72?m<=524288?0:X+Y:X+Y+W:X+Y:X+Y+W",
     "s<=2?f<=1?u<=4?X+Y+W:X+Y:g<=72?o<=5018112?W:X+Y+W:f<=25?s<=1?X+Y:0:0:f<=16?X+W:o<=562214400?W:0",
     "f<=1?X+Y:g<=336?p<=9025?o<=6435072?0:d<=48?o<=226492416?X+Y+16W:X+Y+W+Q:d<=49?0:d<=384?X+Y+W+S:X+Y+W:"
     "X+Y+W+S:m<=6272?0:X+Y+W+Q"}},
{.sm = 90, .half = true, .last = true, .median = 98, .most = 100,
 .workspace = {
     "f<=25?d<=8?v<=2?o<=31457280?c<=3?0:Y+W:Y+W:o<=3345408?X:0:0:o<=472055808?0:k<=16?0:m<=100352?X+W:X",
     "f<=25?s<=2?d<=8?v<=2?c<=3?X+Y+W:Y+W:c<=6?X+W:0:0:X+W:c<=1?g<=384?0:X+Y:p<=1024?Y+W:X+W",
     "f<=25?s<=2?d<=8?v<=2?X+Y+W:X:v<=4?W:0:X+Y:p<=3136?m<=3136?X+Y:d<=49?p<=256?X+Y+W+D:X+Y+W+Q:X+Y+16W:X+W"}},
{.sm = 100, .half = false, .last = false, .median = 5, .most = 35,
 .workspace = {
     "k<=96?d<=336?o<=3492413440?g<=1?m<=6272?d<=100?0:X+Y:0:X+Y+W:o<=4831838208?Y+W:X+Y+W:X+Y+W:f<=1?X+Y:c<=8?"
     "0:X+Y+W",
     "c<=3?o<=1849688064?k<=8?X+Y+W+Q:0:X+Y:f<=1?X+Y:d<=72?X+Y+8W:f<=9?g<=6?g<=2?X+Y+W:0:X+Y+2W:m<=23328?0:X+Y+W",
     "c<=3?f<=25?o<=43352064?X+Y+W+D:0:X+Y+W:f<=1?o<=12845056?m<=3136?0:X+Y+W+Q:c<=140?X+Y+8W:k<=128?X+Y+4W:X+Y:"
     "m<=8192?X+Y+W:X+Y+W+S"}},
{.sm = 100, .half = false, .last = true, .median = 87, .most = 99,
 .workspace = {
     "f<=81?c<=2304?m<=577600?o<=92160?c<=256?u<=2?W:0:X+Y+4W:0:k<=64?u<=1?k<=24?0:X:0:W:Y:X",
     "f<=81?p<=1?c<=64?k<=702?u<=2?X+W:0:X+Y+4W:u<=2?k<=75?0:X+W:v<=2?o<=153600?0:Y+W:0:0:X+W",
     "f<=81?m<=4096?o<=65028096?o<=9830400?0:Y:k<=56?p<=144?W:X+Y+W+S:d<=151?X:0:d<=4032?m<=4900?Y+W:W:0:X+Y+W"}},
{.sm = 100, .half = true, .last = false, .median = 7, .most = 24,
 .workspace = {
     "d<=56?m<=1048576?k<=8?X+Y+W+S:0:Y+W:f<=1?c<=75?m<=100352?k<=96?p<=784?X+Y+W:0:X+Y:0:X+Y:s<=2?X+Y+W:Y+W",
     "s<=2?f<=1?c<=3?0:v<=4?X+Y+W:u<=4?X+Y+W:X+Y:g<=8?X+Y+W:k<=16?c<=8?X+Y+8W:X+Y+W:o<=585252864?X+Y:Y+W:Y+W",
     "m<=10816?f<=1?p<=289?X+Y:c<=144?X+Y:p<=784?X+Y+W+S:X+Y+8W:m<=6272?X+Y+W:X+Y+W+S:k<=56?X+Y+W+D:d<=1312?"
     "X+Y+W+S:m<=46656?X+Y+W:X+Y+W+Q"}},
{.sm = 100, .half = true, .last = true, .median = 95, .most = 100,
 .workspace = {
     "f<=81?c<=2304?p<=1?v<=4?c<=300?k<=19?Y+W:0:u<=4?X+Y+W:Y+W:0:0:Y:X",
     "s<=2?c<=2304?m<=32?v<=4?u<=4?X+Y+W:Y+W:u<=4?X+W:k<=512?0:d<=144?W:0:0:Y:X",
     "s<=2?m<=16384?0:s<=1?m<=20164?f<=1?W:Y+W:o<=28901376?m<=50176?0:X+Y+W+Q:W:p<=9025?W:m<=88804?Y:X+W:X+W"}},
{.sm = 120, .half = false, .last = false, .median = 10, .most = 46,
 .workspace = {
     "d<=216?f<=16?m<=196?X+Y:0:Y+W:f<=9?f<=1?o<=130056192?X+Y+W:X+W:o<=30198988800?g<=9?X+Y+W:Y+W:m<=16384?"
     "X+Y+W:X+W:W",
     "d<=151?k<=366?v<=4?c<=38?0:m<=3136?W:X+Y+W:g<=1?p<=256?X+Y+W:0:X:X+Y+W:u<=1?0:g<=9?X+Y+W:Y",
     "k<=53?o<=37748736?p<=784?0:X+Y+W+S:d<=288?0:X+Y+W:f<=3?m<=1024?X+Y:X+Y+4W:f<=25?k<=128?X+Y+8W:m<=4096?"
     "X+Y+W:X+Y+W+S:X"}},
{.sm = 120, .half = false, .last = true, .median = 16, .most = 54,
 .workspace = {
     "d<=60?k<=120?0:v<=2?X+Y:k<=180?X+W:0:k<=24?o<=390168576?0:X:g<=1?f<=25?X+W:X:g<=9?X+Y+W:Y",
     "k<=8?0:u<=2?d<=366?c<=6?X+Y:X+Y+W:c<=570?X+W:X+Y+W:g<=2?g<=1?Y+W:X+Y+W:g<=9?X+Y+W:g<=21?Y:W",
     "d<=256?s<=2?k<=512?p<=36100?0:X+Y+W+D:p<=256?X+Y:W:X+Y:p<=729?X+Y:d<=2880?d<=363?p<=3025?0:X+Y+16W:X+Y+4W:"
     "X+Y"}},
{.sm = 120, .half = true, .last = false, .median = 5, .most = 26,
 .workspace = {
     "c<=19?g<=6?m<=1600?X+W:p<=36100?0:X+Y+W:X+Y+W:f<=1?k<=60?m<=4900?k<=50?X+Y:W:0:X+Y:g<=9?X+Y+W:Y+W",
     "c<=6?k<=48?m<=262144?0:X+W:f<=16?X+W:p<=3025?X:X+Y:f<=1?v<=4?X+Y+W:u<=4?X+Y+W:X+Y:g<=36?X+Y+W:X",
     "f<=1?m<=4096?v<=4?X+Y+W:X+Y:X+Y+W+S:m<=12544?p<=1024?X+Y+W:k<=64?X+Y+W+S:X+Y+8W:k<=24?X+Y+W+Q:"
     "o<=6502809600?X+Y+W+S:k<=160?X+Y+W+Q:X+Y+W"}},
{.sm = 120, .half = true, .last = true, .median = 61, .most = 99,
 .workspace = {
     "d<=8?X:s<=2?c<=8?p<=36100?u<=1?0:X:X+W:u<=4?v<=4?m<=784?0:X+Y+W:X:v<=4?Y+W:0:W",
     "f<=25?d<=8?X:k<=1?0:u<=4?c<=20?X+W:X+Y+W:g<=1?0:g<=8?X+Y:W:d<=121?0:p<=3136?X:Y+W",
     "f<=11?m<=4096?0:d<=1312?m<=4900?Y:W:m<=16384?0:W:g<=80?X:p<=64?0:o<=59006976?m<=2304?X+Y+16W:X+Y+W+S:"
     "X+Y+W+Q"}},
