package main

import (
	"math"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/media"
)

// Media stay until the customer deletes them, so that each month adds to the storage of all before.

// tier is the price of media of some ages, in dollars for a GB and month.
type tier struct {
	name string
	// months is the number of months that an object spends in the tier. The last tier has the rest.
	months              int
	virginia, frankfurt float64
}

// tiers are those of S3 Intelligent-Tiering for objects that nobody reads: an object is cold after 30 days in it, and
// archived after 90. Before, it is in S3 Standard for customer.TierAfterDays.
var tiers = []tier{
	{"new", customer.TierAfterDays/monthDays + 1, 0.023, 0.0245},
	{"not read for 30 days", 2, 0.0125, 0.0135},
	{"not read for 90 days", 0, 0.004, 0.005},
}

const (
	// watching is the price of S3 Intelligent-Tiering for an object and month.
	watching = 0.0025 / 1000
	// egress is the price of a GB that leaves AWS. Platforms fetch media from the bucket, or get them from a function.
	egress = 0.09
)

// stored returns the media that a month of the customer adds: GB and files.
func (p profile) stored(m measured) (gigabytes, files float64) {
	for name, n := range map[string]float64{"image": p.images, "post": p.posts, "short video": p.videos} {
		u := m.generation(name).whole
		gigabytes += n * float64(u.stored) / gigabyte
		files += n * float64(u.puts)
	}
	return gigabytes, files
}

// sent returns the GB that platforms get in a month: the picture of each post, and each video.
func (p profile) sent() float64 {
	return p.platforms * (p.posts*float64(sizes[media.Image]) + p.videos*float64(sizes[media.Video])) / gigabyte
}

// tierAt returns the tier of media of an age in months.
func tierAt(age int) tier {
	for _, t := range tiers {
		if age < t.months || t.months == 0 {
			return t
		}
		age -= t.months
	}
	return tiers[len(tiers)-1]
}

// storage returns the dollars a month for the storage of media after a number of months.
func (p profile) storage(m measured, months int, in func(tier) float64) (sum float64) {
	gigabytes, files := p.stored(m)
	for age := range months {
		sum += gigabytes * in(tierAt(age))
		if age*monthDays >= customer.TierAfterDays {
			sum += files * watching
		}
	}
	return sum
}

// growthTable shows what media cost that nobody deletes, and what the platforms get.
func growthTable(m measured) string {
	head := []any{""}
	rows := [][]any{{"GB of media more each month"}, {"GB of media after a year"}, {"Storage in the first month"},
		{"Storage in the twelfth month"}, {"The same in eu-central-1"}, {"Platforms that get each post"},
		{"GB to platforms in a month"}, {"Traffic to platforms in a month"}}
	virginia, frankfurt := func(t tier) float64 { return t.virginia }, func(t tier) float64 { return t.frankfurt }
	for _, p := range profiles {
		head = append(head, p.name)
		gigabytes, _ := p.stored(m)
		for i, cell := range []any{number(math.Round(gigabytes)), number(math.Round(12 * gigabytes)),
			dollars(p.storage(m, 1, virginia)), dollars(p.storage(m, 12, virginia)),
			dollars(p.storage(m, 12, frankfurt)), number(p.platforms), number(math.Round(p.sent())),
			dollars(p.sent() * egress)} {
			rows[i] = append(rows[i], cell)
		}
	}
	t := newTable(head...)
	for _, r := range rows {
		t.row(r...)
	}
	return t.String()
}
