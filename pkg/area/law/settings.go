package law

import (
	"strings"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/profile"
)

// CheckSettings refuses a region that is no country, and a marking of advertising that is not valid.
func CheckSettings(l profile.Legal) error {
	var found []error
	if l.Region != nil && !IsCountry(*l.Region) {
		found = append(found, errs.Invalid("/region", "is not the code of a country (ISO 3166-1); write it as DE"))
	}
	return errs.All(append(found, CheckMarking(l.AdMarking))...)
}

// CheckMarking refuses a marking of advertising that is not valid.
func CheckMarking(m *profile.AdMarking) error {
	if m == nil {
		return nil
	}
	var found []error
	if m.Advertiser == "" {
		found = append(found, errs.Invalid("/ad_marking/advertiser", "is required: who advertises"))
	}
	if !ValidTaxID(m.TaxID) {
		found = append(found, errs.Invalid("/ad_marking/tax_id", "is not a taxpayer number (INN) of 10 or 12 digits "+
			"with a valid checksum; write it as 7707083893"))
	}
	if strings.ContainsFunc(m.ERID, func(r rune) bool { return !strings.ContainsRune(eridCharacters, r) }) {
		found = append(found, errs.Invalid("/ad_marking/erid", "has characters besides letters and digits. Send it "+
			"as the operator of advertising data has assigned it"))
	}
	return errs.All(found...)
}

// eridCharacters are those of an identifier of advertising.
const eridCharacters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// MarkingOf returns the marking for the rules, or nil if there is none.
func MarkingOf(m *profile.AdMarking) *Marking {
	if m == nil {
		return nil
	}
	return &Marking{m.Advertiser, m.TaxID, m.ERID}
}
