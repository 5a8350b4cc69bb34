package plan

import (
	"encoding/json"
	"time"

	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/craft/calendar"
)

// usualShare is the percentage of a seller's items that present a product if a caller names none.
const usualShare = 60

// The values of approve: what waits for an approval.
const (
	ApproveNone   = "none"
	ApproveTopics = "topics"
)

// usualLead returns the hours before its time at which an item is written if a caller names none, or 0: at once. News
// of an hour ago are news, and whoever approves topics wants the figures of the weeks before in the texts.
func usualLead(of factory.Type, approve string) int {
	switch {
	case of == factory.News:
		return 2
	case approve == ApproveTopics:
		return 48
	}
	return 0
}

// checkShare refuses a share of products in a plan of a factory that has none.
func (b *createBody) checkShare(f factory.Factory) error {
	if b.ProductShare != nil && f.Type != factory.Seller {
		return errs.Invalid("/product_share", "is for factories of the type seller. This one is of the type %s", f.Type)
	}
	return nil
}

// whereOf returns the time zone and the country of a plan: those that its caller names, or else those of the factory. A
// factory without a schedule has the zone of its country, and UTC if that is not known either.
func whereOf(b createBody, f factory.Factory) (zone, country string, err error) {
	if zone = b.Timezone; zone == "" && f.Schedule != nil {
		zone = f.Schedule.Timezone
	}
	if country = b.Country; country == "" {
		region, err := regionOf(f)
		if err != nil {
			return "", "", err
		}
		country = calendar.Country(region, f.Language, zone)
	}
	if zone == "" {
		zone = calendar.Zone(country)
	}
	if zone == "" {
		return time.UTC.String(), country, nil
	}
	if _, err := factory.Zone(zone); err != nil {
		return time.UTC.String(), country, errs.Invalid("/timezone", "is not an IANA time zone; write it as Europe/Berlin")
	}
	return zone, country, nil
}

// regionOf returns the country that a factory names: where its content is published, or what its news are about.
func regionOf(f factory.Factory) (string, error) {
	if f.Region != nil {
		return *f.Region, nil
	}
	raw, err := f.Settings.MarshalJSON()
	if err != nil {
		return "", err
	}
	var settings struct{ Region string }
	err = json.Unmarshal(raw, &settings)
	return settings.Region, err
}
