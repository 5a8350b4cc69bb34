package factory

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/store"
)

// Decode reads the factory of an item.
func Decode(it *store.Item) (f Factory, err error) {
	if err := it.Decode(&f); err != nil {
		return f, err
	}
	f.Approval = cmp.Or(f.Approval, ApprovalNone) // it may be older than the member
	f.PlanApprove = cmp.Or(f.PlanApprove, ApprovalNone)
	f.Quality = cmp.Or(f.Quality, usualQuality) // it may be older than the member
	if raw := it.Attributes[catalog.TrainedAttribute]; raw != "" {
		if err := json.Unmarshal([]byte(raw), &f.Trained); err != nil {
			return f, fmt.Errorf("factory: trained model of %s: %w", f.ID, err)
		}
	}
	return f, f.decodeFiles(it)
}

// TrainedText returns the factory's trained model if it is its text model, and nil otherwise.
func (f *Factory) TrainedText() *catalog.Trained {
	if f.Trained == nil || f.Models[string(provider.KindText)] != f.Trained.ID {
		return nil
	}
	return f.Trained
}

// TextModel returns the id in the catalog of the factory's text model, empty without
// one, and the endpoint of a trained model, which is called in its place.
func (f *Factory) TextModel() (modelID, endpoint string) {
	if t := f.TrainedText(); t != nil {
		return t.BaseModel, t.Endpoint
	}
	return f.Models[string(provider.KindText)], ""
}
