package law

import "strings"

// EU is the jurisdiction of the rules of the European Union.
const EU = "EU"

// members are the countries of the European Union.
const members = " AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK "

// countries are the codes of ISO 3166-1.
const countries = members + "AD AE AF AG AI AL AM AO AQ AR AS AU AW AX AZ BA BB BD BF BH BI BJ BL BM BN BO BQ BR BS " +
	"BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX DJ DM DO DZ EC EG EH ER ET FJ FK FM FO GA GB " +
	"GD GE GF GG GH GI GL GM GN GP GQ GS GT GU GW GY HK HM HN HT ID IL IM IN IO IQ IR IS JE JM JO JP KE KG KH KI KM " +
	"KN KP KR KW KY KZ LA LB LC LI LK LR LS LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MU MV MW MX MY MZ NA " +
	"NC NE NF NG NI NO NP NR NU NZ OM PA PE PF PG PH PK PM PN PR PS PW PY QA RE RS RU RW SA SB SC SD SG SH SJ SL SM " +
	"SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN " +
	"VU WF WS YE YT ZA ZM ZW "

// InEU reports whether a country is a member of the European Union.
func InEU(country string) bool { return listed(members, country) }

// IsCountry reports whether a text is the code of a country (ISO 3166-1).
func IsCountry(code string) bool { return listed(countries, code) }

func listed(all, code string) bool { return len(code) == 2 && strings.Contains(all, " "+code+" ") }
