package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
)

const (
	// fewTopics is the number of topics below which content repeats itself.
	fewTopics = 3
	// A content type is unused if none of this number of items is of it.
	unusedItems = 20
	// accountUnused is the time after which a social account counts as unused.
	accountUnused = 30 * day
)

// settings finds missing settings of the factory.
func settings(f Facts) (all []Finding) {
	missing := func(code Code, severity Severity, is bool, message string) {
		if is {
			all = append(all, found(code, severity, message))
		}
	}
	s := f.Factory
	missing(NoDescription, Warning, s.Description == "", "The factory has no description, so that its content has no "+
		"subject beyond each prompt.")
	missing(NoAudience, Warning, s.Audience == "", "The factory has no audience, so that its texts address no one in "+
		"particular.")
	missing(NoTopics, Warning, len(s.Topics) == 0, "The factory has no topics.")
	missing(NoTone, Info, s.Tone == "", "The factory has no tone.")
	missing(NoSchedule, Info, s.Times == 0, "The factory has no schedule.")
	if n := len(s.Topics); n > 0 && n < fewTopics {
		all = append(all, found(FewTopics, Info, fmt.Sprintf("The factory has %d of at least %d topics. With few "+
			"topics, content repeats itself.", n, fewTopics), "topics", n, "at_least", fewTopics))
	}
	if len(f.Items) < unusedItems {
		return all
	}
	for _, kind := range s.ContentTypes {
		if !slices.ContainsFunc(f.Items, func(it Item) bool { return it.Kind == factoryrecord.KindOf(kind) }) {
			all = append(all, found(UnusedContentType, Info, fmt.Sprintf("The content types of the factory include "+
				"%s, but none of its last %d items is of that kind.", kind, len(f.Items)), "items",
				len(f.Items)).about(kind, ""))
		}
	}
	return all
}

// accounts finds social accounts that nothing can be published to, or that no item goes to.
func accounts(f Facts) (all []Finding) {
	from := f.Now.Add(-accountUnused)
	items := 0
	used := map[string]bool{}
	for _, it := range f.Items {
		if it.CreatedAt.Before(from) {
			continue
		}
		items++
		for _, account := range it.Accounts {
			used[account] = true
		}
	}
	for _, a := range f.Factory.Accounts {
		if a.Lost {
			all = append(all, found(AccountDisconnected, Critical, fmt.Sprintf("The social account %s on %s is not "+
				"connected. Nothing is published to it until its owner connects it again.", cmp.Or(a.Handle, a.ID),
				a.Platform)).about(a.ID, ""))
		}
		if items > 0 && !used[a.ID] {
			all = append(all, found(UnusedAccount, Warning, fmt.Sprintf("None of the %d items of the last 30 days "+
				"goes to the social account %s.", items, a.ID), "items", items, "days",
				int(accountUnused/day)).about(a.ID, ""))
		}
	}
	return all
}

// captions finds captions that are longer than a platform publishes. That is a fault only
// if the factory publishes there. A platform that not every customer has matters only then.
func captions(f Facts) (all []Finding) {
	for _, p := range registry.Rows() {
		used := slices.ContainsFunc(f.Factory.Accounts, func(a Account) bool { return a.Platform == p.Name })
		if p.Optional && !used {
			continue
		}
		limit := p.Capabilities.Kinds[platform.KindVideo].Caption
		n, over, most := 0, 0, 0
		for _, it := range f.Items {
			if it.Caption == "" || !it.made() {
				continue
			}
			n++
			length := limit.Unit.Length(posted(it))
			most = max(most, length)
			if length > limit.Max {
				over++
			}
		}
		if over == 0 {
			continue
		}
		severity := Info
		if used {
			severity = Warning
		}
		all = append(all, found(CaptionTooLong, severity,
			fmt.Sprintf("%d of %d captions are longer with their hashtags than %s permits. "+
				"The longest has %d of %d %s.", over, n, p.Name, most, limit.Max,
				strings.ReplaceAll(string(cmp.Or(limit.Unit, platform.Runes)), "_", " ")),
			"too_long", over, "captions", n, "longest", most, "limit", limit.Max).about(p.Name, ""))
	}
	return all
}

// posted is the caption with its hashtags, as it is published.
func posted(it Item) string {
	if len(it.Hashtags) == 0 {
		return it.Caption
	}
	return it.Caption + "\n\n#" + strings.Join(it.Hashtags, " #")
}
