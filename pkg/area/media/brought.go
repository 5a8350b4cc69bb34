package media

import "time"

// Brought is a file that a caller brings in: its source, and its declaration.
type Brought struct {
	Declared Declared
	// SourceURL is the address that it is fetched from, and Key the object that it is
	// copied from. Both are empty for an upload.
	SourceURL, Key string
	// Arrival is when a file that was not uploaded is given up.
	Arrival time.Time
}

// Brought returns the file of a media.
func (r *Record) Brought() Brought {
	b := Brought{Declared: r.Declared, Arrival: r.Arrival()}
	if r.SourceURL != nil {
		b.SourceURL = *r.SourceURL
	}
	return b
}

// Progress is the payload of the task of a file.
type Progress struct {
	// Of is the resource that the file belongs to, if it is not the subject of the task.
	Of string `json:"of,omitempty"`
}
