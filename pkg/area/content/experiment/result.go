package experiment

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// Hooks say how texts begin, for the tone of a factory.
var Hooks = map[string]string{"claim": "begins with a concrete claim", "contradiction": "begins with a contradiction",
	"number": "begins with a number", "question": "begins with a question", "scene": "begins with a scene"}

// Settable reports whether the arms of a factor are settings of a factory.
func Settable(factor string) bool {
	return !slices.Contains([]string{FactorLength, FactorFormat, FactorPictureStyle}, factor)
}

// Has reports whether a factory has a winner among its settings.
func Has(f factory.Factory, w Winner) bool {
	switch w.Factor {
	case FactorHook:
		return Hooks[w.Arm] != "" && strings.Contains(string(f.Tone), Hooks[w.Arm])
	case FactorPillar:
		return len(f.Topics) > 0 && string(f.Topics[0]) == w.Arm
	case FactorSlot:
		return f.Schedule != nil && slices.Contains(f.Schedule.Times, w.Arm)
	case FactorCaptionStyle, FactorFirstFrame:
		var settings struct {
			CaptionStyle string `json:"caption_style"`
			Headlines    *bool  `json:"post_headlines"`
		}
		if raw, err := f.Settings.MarshalJSON(); err != nil || json.Unmarshal(raw, &settings) != nil {
			return false
		}
		if w.Factor == FactorCaptionStyle {
			return settings.CaptionStyle == w.Arm
		}
		return settings.Headlines != nil && *settings.Headlines == (w.Arm == "headline")
	}
	return false
}

// Arms returns the arms of a factor of the experiment.
func (e *Experiment) Arms(factor string) []string {
	for _, f := range e.Factors {
		if f.Name == factor {
			return slices.Clone(f.Arms)
		}
	}
	return nil
}

// DecidedOf returns the latest decided experiments of a factory, the last one first. Most bounds their number.
func DecidedOf(ctx context.Context, db *store.DB, o tenant.Owner, factoryID string, most int) (all []*Record,
	err error) {
	page, err := db.List(ctx, store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(o, ItemKind),
		Limit: most, Filters: map[string]string{factoryFilter: factoryID, stateFilter: string(Decided)}})
	if err != nil {
		return nil, err
	}
	for _, it := range page.Items {
		r, err := Decode(&it)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
