package records_test

import (
	"testing"
)

func TestSamePayloadInAnotherSpellingMakesNoVersion(t *testing.T) {
	each(t, func(f *fixture) {
		f.wrote(1, 0, `{"stream":"notes","data":{"id":"a","n":1.0,"in":{"x":[1,2],"y":"ü"}}}`)
		f.wrote(0, 1, `{"stream":"notes","data":{ "in" : {"y":"\u00fc","x":[1, 2.0]}, "n":1, "id":"a" }}`)
		before := f.record("notes", "a")
		f.wrote(1, 0, `{"stream":"notes","data":{"id":"a","n":1.0,"in":{"x":[1,3],"y":"ü"}}}`)
		after := f.record("notes", "a")
		if before.Version != 1 || after.Version != 2 || after.ID != before.ID || after.Seq != 2 || after.FirstSeq != 1 {
			f.Errorf("%+v became %+v", before, after)
		}
		if kept := f.count("record_versions", "version = 1 and seq = 1 and superseded_seq = 2"); kept != 1 {
			f.Errorf("%d versions are kept", kept)
		}
	})
}

func TestDeletedRecordHasOneTombstoneAndComesBackWithItsID(t *testing.T) {
	each(t, func(f *fixture) {
		const data = `{"stream":"notes","data":{"id":"a","text":"x"}}`
		f.wrote(1, 0, data)
		first := f.record("notes", "a")
		f.wrote(1, 0, `{"stream":"notes","op":"delete","key":"a"}`)
		f.wrote(0, 1, `{"stream":"notes","op":"delete","data":{"id":"a"}}`)
		f.wrote(0, 1, `{"stream":"notes","op":"delete","key":"never"}`)
		if gone := f.record("notes", "a"); !gone.Deleted || gone.Version != 2 || gone.Data != first.Data {
			f.Errorf("%+v became %+v", first, gone)
		}
		f.wrote(1, 0, data)
		if back := f.record("notes", "a"); back.Deleted || back.Version != 3 || back.ID != first.ID || back.FirstSeq != 1 {
			f.Errorf("%+v came back as %+v", first, back)
		}
		if n := f.count("record_versions", "true"); n != 2 {
			f.Errorf("%d versions are kept, want the first and the tombstone", n)
		}
	})
}
