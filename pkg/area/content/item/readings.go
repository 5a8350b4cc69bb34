package item

import (
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// ReadingsKind is the kind of the item with the metrics of a publication over time. With them, the row of a
// publication would be up to ten times as long, and each of its writes would cost ten times as much.
const ReadingsKind = "publication_readings"

// ReadingsKey is the key of that item.
func ReadingsKey(publicationID string) store.Key { return store.IDKey(publicationID) }

// maxReadings bounds the readings of the metrics of a publication that are kept. The schedule has 92.
const maxReadings = 120

// ComparisonAge is the age at which the metrics of posts are compared: a younger post has had less time.
const ComparisonAge = 24 * time.Hour

// readings is the document of an item of ReadingsKind.
type readings struct {
	Readings []reading `json:"readings"`
}

// History returns the metrics of a publication over time, the earliest first, from the item at its ReadingsKey.
func History(it store.Item) ([]Metrics, error) {
	all := []Metrics{}
	if it.Kind != ReadingsKind {
		return all, nil
	}
	var doc readings
	if err := it.Decode(&doc); err != nil {
		return nil, err
	}
	for _, r := range doc.Readings {
		all = append(all, Metrics(r))
	}
	return all, nil
}

// NoteMetrics adds to the transaction that the metrics of a publication were read. It is the item at its ReadingsKey.
func NoteMetrics(tx *store.Tx, owner tenant.Owner, pub *Publication, it store.Item) error {
	var doc readings
	if it.Kind == ReadingsKind {
		if err := it.Decode(&doc); err != nil {
			return err
		}
	}
	now := reading(*pub.Metrics)
	doc.Readings = append(doc.Readings, now)
	doc.Readings = doc.Readings[max(0, len(doc.Readings)-maxReadings):]
	if pub.Posting.ComparedMetrics == nil && now.ReadAt.Sub(pub.PublishedAt.Time) >= ComparisonAge {
		pub.Posting.ComparedMetrics = &now
	}
	create := it.Kind != ReadingsKind
	if create {
		it = store.Item{Key: ReadingsKey(pub.ID), Kind: ReadingsKind, Owner: owner}
	}
	if err := it.Encode(doc); err != nil {
		return err
	}
	if create {
		tx.Create(it, nil)
	} else {
		tx.Replace(it)
	}
	return nil
}

// SettledMetrics returns the metrics of the publication at its first reading at or after the age Settled, or its last
// metrics if there is no such reading.
func (p *Publication) SettledMetrics() *Metrics {
	if at := p.Posting.ComparedMetrics; at != nil {
		m := Metrics(*at)
		return &m
	}
	return p.Metrics
}
