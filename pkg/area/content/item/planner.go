package item

// Planner plans the current attempt at an item.
type Planner struct {
	record      *Record
	item        *Item
	attempt     *Attempt
	brief       *Brief
	callerTexts *CallerTexts
	writer      *writer
}

// PlannerOf returns the planner of the current attempt at an item.
func PlannerOf(r *Record) *Planner {
	return &Planner{record: r, item: &r.Item, attempt: &r.Attempt, brief: &r.Brief, callerTexts: &r.CallerTexts,
		writer: writerOf(r)}
}

// writer says what models are asked for the parts of an attempt, and what their texts must keep to.
type writer struct {
	record      *Record
	item        *Item
	attempt     *Attempt
	brief       *Brief
	callerTexts *CallerTexts
	// memory is what the prompt says about the channel. It is read when the texts are written.
	memory *memory
}

func writerOf(r *Record) *writer {
	return &writer{record: r, item: &r.Item, attempt: &r.Attempt, brief: &r.Brief, callerTexts: &r.CallerTexts}
}

// maker makes an item of the results of the parts of its attempt.
type maker struct {
	record      *Record
	item        *Item
	attempt     *Attempt
	brief       *Brief
	callerTexts *CallerTexts
	writer      *writer
}

func makerOf(r *Record) *maker {
	return &maker{record: r, item: &r.Item, attempt: &r.Attempt, brief: &r.Brief, callerTexts: &r.CallerTexts,
		writer: writerOf(r)}
}
