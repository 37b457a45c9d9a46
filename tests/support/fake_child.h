/*
 * fake_child - a program in the place of `stallsymd index` that does what a test says.
 *
 * Purpose: fake_child_new() writes a shell script into a folder; run as `PROGRAM index UPLOAD -o DIR
 * …` it sources UPLOAD, so that the uploaded file itself is what the child does, with $out the
 * folder to write to.
 *
 * Threads: any. Memory: the path is freed with free().
 */
#ifndef STALLSYM_TESTS_FAKE_CHILD_H
#define STALLSYM_TESTS_FAKE_CHILD_H

char *fake_child_new(const char *folder);

#endif
