//! The next step fills the other stage; where there is none, it waits until this one has been read. Statements of `main`.

        if STAGES == 1u {
            workgroupBarrier();
        }
        stage = (stage + 1u) % STAGES;
