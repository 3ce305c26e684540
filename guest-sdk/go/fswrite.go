package wasmres

import "io/fs"

// WriteFile makes a file of data, or puts data in the place of all that a file has, at once: who reads it meanwhile
// sees the one or the other. The folders it is in are made if they are not there. It gives what describes the file
// then.
//
// The directory must be granted for writing, with :rw. Data has close to 1 MiB at most, else the error is
// [ErrTooLarge]: of a longer file WriteFile makes the beginning, and [Directory.AppendFile] adds the rest part by
// part, while others see what there is so far. It is [ErrTooLarge] too when the provider has added more than it may
// (256 MiB, or 10,000 files and folders, since it was loaded). Other errors are fs.ErrPermission where writing is not
// granted, fs.ErrInvalid for a name that leads out of the directory, is that of a folder, or is in a file, and
// [ErrUnavailable] when the disk is full.
func (d Directory) WriteFile(name string, data []byte) (fs.FileInfo, error) {
	return d.write("write", name, fileRequest{data: data})
}

// AppendFile puts data at the end of a file, beside what others add at the same time: lines of a log, or the parts of a
// file that is too long for one call. In all else it is [Directory.WriteFile].
func (d Directory) AppendFile(name string, data []byte) (fs.FileInfo, error) {
	return d.write("append", name, fileRequest{data: data, appends: true})
}

// Remove removes a file or an empty folder. The error is fs.ErrNotExist when there is none, fs.ErrInvalid for a folder
// that is not empty and for the directory itself, and fs.ErrPermission where writing is not granted.
func (d Directory) Remove(name string) error {
	_, _, err := d.ask(serviceFileRemove, "remove", name, fileRequest{})
	return err
}

var errWrite = &Error{Code: codeTooLarge, Message: "one write takes close to 1 MiB: append what is more, part by part"}

func (d Directory) write(op, name string, q fileRequest) (fs.FileInfo, error) {
	if len(q.data) > maxService-fileHead-len(d.path)-len(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: errWrite}
	}
	e, err := d.askOne(serviceFileWrite, op, name, q)
	if err != nil {
		return nil, err
	}
	return e, nil
}
